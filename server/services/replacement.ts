/** How a version of a service makes room for the next one. */

/** Whether a new deploy of the source waits for the deploy in progress, or cancels it. */
export const OVERLAP_POLICIES = ['wait', 'override'] as const
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number]

/** Both periods, unless a service sets its own. */
export const USUAL_SECONDS = 30
/** The longest of both: as long as an instance may take to become ready. */
export const LONGEST_SECONDS = 300
