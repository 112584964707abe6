/** Upper bounds of the latency histogram's buckets in seconds; one more bucket holds the rest. */
export const LATENCY_BUCKETS_SECONDS = [
  0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5,
  0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 30, 60, 120, 300,
] as const
