/**
 * @file dp_order.h
 * In which order the cells of a table are computed.
 */
#pragma once

/** WAVEFRONT: each cell from its upper, left and diagonal neighbours. ROWS: row after row.
 *  INTERVAL: the upper triangle, interval (i, j) from shorter ones. */
typedef enum dp_engine { DP_WAVEFRONT, DP_ROWS, DP_INTERVAL, DP_N_ENGINES } dp_engine;
