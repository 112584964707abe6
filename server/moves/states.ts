export const MOVE_STATUSES = ['running', 'succeeded', 'failed', 'canceled'] as const
export type MoveStatus = (typeof MOVE_STATUSES)[number]
