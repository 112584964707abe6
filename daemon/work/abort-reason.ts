/** Why the run of a deploy was aborted: it was canceled, or the server stops and its next start takes the deploy up again. */
export type AbortReason = 'canceled' | 'stopping'
