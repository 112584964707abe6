import { remembered } from '../ui/remembered.ts'

/** On a narrow screen lines wrap and times are left out, until the user chooses. */
const narrow = matchMedia('(max-width: 640px)').matches

export const wrapLines = remembered('log-wrap', narrow)
export const showTimes = remembered('log-times', !narrow)
export const foldSteps = remembered('log-steps', true)
