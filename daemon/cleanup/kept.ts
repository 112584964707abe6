/** Images and published folders of this many live deploys are kept for rollback. */
export const KEPT_LIVE = 5
/** How many deploys of a service are kept, with their logs. */
export const KEPT_DEPLOYS = 500
/** How many jobs of a service are kept, with their logs. */
export const KEPT_JOBS = 500
