"""The load test: what an orchestrator feels of the monitors that it logs thousands of rollouts to.

    python -m benchmarks.load --help
    tox -e load -- --episodes 1000 --monitors upload file both --runs 5

A process of its own runs an event loop with some thousand rollouts on it, which do next to nothing, and logs
episodes of production sizes as fast as the monitors take them: `await monitor.log(...)` for each, and a row of metrics
a step. A tick of 1 ms on the same loop shows how late everything else comes. The receiver, and in front of it a proxy
that may be slow or stand still, are other processes; so is an idle loop that ticks beside all that, and shows what the
machine's two cores do to a loop with as many rollouts that logs nothing.

What is delivered is not what the monitors say, but what the receiver's index and the files hold afterwards.

| module | what |
|:--|:--|
| `options`, `cases` | the command line, and what is measured: pure |
| `rollouts`, `pace`, `histogram`, `series` | episodes, when they come, and figures that never grow: pure |
| `child`, `loop`, `waiting`, `targets`, `plain_way` | the process that is measured |
| `beside` | the idle loop |
| `running`, `network`, `counting` | around it: the receiver, the proxy, and what they hold in the end |
| `soak`, `faults` | when which fault comes, and whether memory is flat: pure; and who throws them |
| `measurement`, `bounds`, `tables`, `charts`, `reports` | results, verdicts, and how they are shown |
"""
