byte a_index = 1; byte a[2], b[2], i; int q;
active [2] proctype P() { a[i / 4] = 1; i++; a[1 - i / 4]--; (i < 9); q = 0 * b[i]; q = 3 / (i + 1); i = i + 1; a[a_index] = 2 }
