"""What `Episode.record_run` says is what the service tells of the run."""

from encoder import EvalRunInfo, EvalWorkInfo, TrainRunInfo, TrainWorkInfo
from encoder.synthetic import synthetic_episode
from tests.end_to_end.service import Service


def test_a_training_run(service: Service) -> None:
    episodes = [synthetic_episode(seed, target_bytes=20_000) for seed in range(6)]
    for number, episode in enumerate(episodes):
        episode.record_run(TrainRunInfo(id="run-train", name="gsm8k", work=TrainWorkInfo(step=number // 2)))
    service.call("upload_records", episodes, line_format="episode", context={"user": "u"}, target_batch_bytes=50_000)
    rewards = [
        sum(each.score * each.weight for each in episode.traces[0].rewards.values() if each) for episode in episodes
    ]

    run = service.call("get_run", "run-train")
    assert (run.run_id, run.trace_count, run.episode_count, run.has_error) == ("run-train", 6, 6, False)
    assert (run.step_min, run.step_max, run.step_count) == (0, 2, 3)
    assert abs(run.avg_reward - sum(rewards) / 6) < 1e-9
    assert run.environment_ids == ["synthetic"]

    steps = service.call("list_run_steps", "run-train")
    assert [(item.step, item.trace_count, item.episode_count) for item in steps.items] == [
        (0, 2, 2),
        (1, 2, 2),
        (2, 2, 2),
    ]
    for item in steps.items:
        assert abs(item.avg_reward - sum(rewards[2 * item.step : 2 * item.step + 2]) / 2) < 1e-9

    listed = service.call("iter_episodes", run_id="run-train")
    assert {item.episode_id for item in listed} == {episode.id for episode in episodes}
    assert {item.run_id for item in service.call("list", run_id="run-train").items} == {"run-train"}


def test_an_evaluation_among_other_runs(service: Service) -> None:
    evaluated = synthetic_episode(50, target_bytes=20_000)
    evaluated.record_run(EvalRunInfo(id="run-eval"))
    during_training = synthetic_episode(51, target_bytes=20_000)
    during_training.record_run(TrainRunInfo(id="run-mixed", work=EvalWorkInfo(step=4)))
    trace = synthetic_episode(52, target_bytes=20_000).traces[0]
    trace.run = EvalRunInfo(id="run-of-a-trace")
    service.call("upload_records", [evaluated, during_training], line_format="episode")
    service.call("upload_records", [trace])

    runs = {run.run_id: run for run in service.call("iter_runs", limit=1)}
    assert runs.keys() >= {"run-eval", "run-mixed", "run-of-a-trace"}
    assert {run.run_id for run in service.call("list_runs").items} == runs.keys()
    assert (runs["run-eval"].episode_count, runs["run-eval"].step_count) == (1, 0)
    assert (runs["run-of-a-trace"].trace_count, runs["run-of-a-trace"].episode_count) == (1, 0)
    assert service.call("list_run_steps", "run-eval").items == []
    assert service.call("get", trace.id).run_id == "run-of-a-trace"
