/**
 * @file dp_backend_recurrences.h
 * Recurrences of test_dp_backend_gpu.c: lines of a dp section.
 */
#pragma once

#define TABLE_OF(type, rows, cols, cells) \
  "  table: {type: " type ", rows: " rows ", cols: " cols ", cells: " cells "}\n"
#define DEEP(type, rows, cols, depth, cells)                                                      \
  "  table: {type: " type ", rows: " rows ", cols: " cols ", depth: " depth ", cells: " cells "}" \
  "\n"
#define FRAME "  boundary: [{where: \"i == 0 || j == 0\", value: \"(i * 3 + j) % 7\"}]\n"
#define DATA "  data:\n    - {name: w, type: int, values: [3, 1, 4, 2, 5, 9, 2]}\n"

/** Every engine, type of value and kind of goal; some in patterns that are folded. */
static const char *const recurrences[] = {
    TABLE_OF("i32", "211", "307", "all") DATA FRAME
    "  cell: \"w[i % 7] == w[j % 7] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])\"\n"
    "  goal: max over all\n",
    TABLE_OF("f64", "170", "190", "all") DATA FRAME
    "  cell: \"min(M[i-1][j-1], M[i-1][j], M[i][j-1]) + abs(w[i % 7] - w[j % 7]) / 3\"\n"
    "  goal: \"M[9][9] + M[120][77] * 2 - M[0][5] + M[169][189]\"\n",
    TABLE_OF("i16", "190", "150", "all") DATA
    "  pattern: SENO\n"
    "  boundary: [{where: \"i == rows(M)-1 || j == cols(M)-1\", value: \"(i + j) % 13\"}]\n"
    "  cell: \"(M[i+1][j] + M[i+1][j+1]) % 97\"\n"
    "  goal: max over last column\n",
    TABLE_OF("f32", "71", "333", "all") DATA
    "  pattern: NESO\n"
    "  boundary: [{where: \"i == 0\", value: \"(i + j) % 5\"}]\n"
    "  cell: \"M[i-1][j] * 0.75 + w[(i + 2 * j) % 7]\"\n"
    "  goal: min over last row\n",
    TABLE_OF("i32", "77", "901", "all") DATA
    "  boundary: [{where: \"i == 0\", value: \"0\"}]\n"
    "  cell: \"j < w[i % 7] ? M[i-1][j] : max(M[i-1][j], M[i-1][j - w[i % 7]] + i)\"\n"
    "  goal: \"M[76][900] + M[3][4]\"\n",
    TABLE_OF("i64", "40", "300",
             "all") "  boundary: [{where: \"i < 3\", value: \"j\"}]\n"
                    "  cell: \"(M[i-3][j] + M[i-1][(j * 7) % cols(M)] * 5) % 1009\"\n"
                    "  goal: max over all\n",
    TABLE_OF("f64", "64", "200", "all") DATA
    "  boundary: [{where: \"i < 9\", value: \"j * 0.5\"}]\n"
    "  cell: \"M[i - w[i % 7]][j] * 0.5 + M[i-1][(j + 1) % cols(M)] * 0.25\"\n"
    "  goal: min over last row\n",
    TABLE_OF("i64", "197", "197", "upper") DATA
    "  boundary: [{where: \"i == j\", value: \"0\"}]\n"
    "  cell: \"min(k = i .. j-1 : M[i][k] + M[k+1][j] + w[i % 7] * w[k % 7] * w[j % 7])\"\n"
    "  goal: \"M[0][196] + M[50][90]\"\n",
    TABLE_OF("i32", "150", "150", "upper") DATA
    "  boundary: [{where: \"i == j\", value: \"w[i % 7]\"}]\n"
    "  cell: \"max(M[i+1][j], M[i][j-1]) + (w[i % 7] == w[j % 7] ? 1 : 0)\"\n"
    "  goal: max over all\n",
    DEEP("i16", "131", "207", "37", "all") DATA
    "  boundary: [{where: \"i == 0 || j == 0 || k == 0\", value: \"0\"}]\n"
    "  cell: \"w[i % 7] == w[j % 7] && w[j % 7] == w[k % 7] ? M[i-1][j-1][k-1] + 1\n"
    "         : max(M[i-1][j][k], M[i][j-1][k], M[i][j][k-1])\"\n"
    "  goal: max over all\n",
    DEEP("f64", "71", "190", "20", "all") DATA
    "  pattern: NESO\n"
    "  boundary: [{where: \"i == 0 || j == cols(M)-1\", value: \"k * 0.5\"}]\n"
    "  cell: \"M[i-1][j][min(k + 1, 19)] * 0.5 + M[i][j+1][k] * 0.25 + w[k % 7]\"\n"
    "  goal: min over last row\n",
    DEEP("i32", "77", "300", "9", "all") DATA
    "  boundary: [{where: \"i == 0 || k == 0\", value: \"0\"}]\n"
    "  cell: \"j < w[i % 7] ? M[i-1][j][k] : max(M[i-1][j][k], M[i-1][j - w[i % 7]][k-1] + i)\"\n"
    "  goal: \"M[76][299][8] + M[3][4][5]\"\n",
    DEEP("i64", "70", "70", "6", "upper") DATA
    "  boundary: [{where: \"i == j\", value: \"w[(i + k) % 7]\"}]\n"
    "  cell: \"max(s = i .. j-1 : M[i][s][(k + 1) % 6] + M[s+1][j][(k * 5 + 2) % 6]) % 10007\"\n"
    "  goal: max over all\n",
    DEEP("i32", "91", "107", "[9, 7]", "all") DATA
    "  boundary: [{where: \"i == 0 || j == 0 || k == 0 || l == 0\", value: \"i + j * k - l\"}]\n"
    "  cell: \"min(M[i-1][j-1][k-1][l-1] + w[l % 7], M[i-1][j][k][l], M[i][j-1][k][l],\n"
    "         M[i][j][k-1][l], M[i][j][k][l-1]) + 1\"\n"
    "  goal: min over last column\n",
    DEEP("i64", "50", "50", "[3, 4, 2]", "upper") DATA
    "  boundary: [{where: \"i == j\", value: \"w[(i + k + m) % 7] - l\"}]\n"
    "  cell: \"max(s = i .. j-1 : M[i][s][k][l][m] + M[s+1][j][2 - k][(l + s) % 4][m]) % 10007\"\n"
    "  goal: max over all\n",
    DEEP("i64", "83", "150", "21", "all") DATA
    "  tables:\n"
    "    - name: A\n"
    "      boundary: [{where: \"i == 0 || j == 0\", value: \"i + k\"}]\n"
    "      cell: \"max(A[i-1][j][k], B[i][j-1][k]) + w[k % 7]\"\n"
    "    - name: B\n"
    "      boundary: [{where: \"i == 0 || j == 0\", value: \"j - k\"}]\n"
    "      cell: \"min(A[i][j][k], B[i-1][j-1][k]) + (k > 0 ? A[i][j][k-1] - B[i][j][k-1] : i) % "
    "7\"\n"
    "  goal: \"A[82][149][20] - B[40][77][3]\"\n",
};

#undef TABLE_OF
#undef DEEP
#undef FRAME
#undef DATA
