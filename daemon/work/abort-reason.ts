/** Why the run of a deploy was aborted: it was canceled, or the server is stopping and resumes it at its next start. */
export type AbortReason = 'canceled' | 'stopping'
