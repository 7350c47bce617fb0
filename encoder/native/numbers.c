/* The tables behind numbers.h. */
#include "numbers.h"

/* The text of 0000 to 9999, and how many of its characters are left when zeros at the end are taken off, at least one. */
char FOUR[10000 + 1][4]; /* one more: four bytes are copied wherever in a number they begin */
unsigned char KEPT[10000];

void numbers_prepare(void) {
    for (int number = 0; number < 10000; number++) {
        int rest = number;
        for (int digit = 3; digit >= 0; digit--) {
            FOUR[number][digit] = (char)('0' + rest % 10);
            rest /= 10;
        }
        int kept = 4;
        while (kept > 1 && FOUR[number][kept - 1] == '0') {
            kept--;
        }
        KEPT[number] = (unsigned char)kept;
    }
}
