/** The environment that always exists. */
export const PRODUCTION = 'production'
