/** Takes what is read of a log. */
export interface Sink<T> {
  /** Takes a line, in order, once. */
  line(line: T): void
  /** Lines are missing here: the server left them out, or has more of them than it sends; null if it is not known how many. */
  skipped(count: number | null): void
  /** Called when what came together was taken; reading goes on when it resolves. */
  flush(): Promise<void>
}
