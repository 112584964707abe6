import { createHash } from 'node:crypto'
import { useDatabase } from '../context.ts'
import { isUniqueViolation } from '../database/index.ts'

/** A provider sends a failed delivery again within hours, not after as many pushes. */
const KEPT_DELIVERIES = 5_000

/** Records a delivery by its body and its id. Answers false for one that was taken before. */
export function recordDelivery(body: Buffer, deliveryId: string | null): boolean {
  const database = useDatabase()
  try {
    database.transaction(() => {
      database.run(
        'INSERT INTO webhook_deliveries (body_digest, delivery_id, received_at) VALUES (?, ?, ?)',
        createHash('sha256').update(body).digest('hex'),
        deliveryId,
        Date.now(),
      )
      database.run(
        'DELETE FROM webhook_deliveries WHERE sequence <= (SELECT max(sequence) FROM webhook_deliveries) - ?',
        KEPT_DELIVERIES,
      )
    })
    return true
  } catch (error) {
    if (isUniqueViolation(error)) return false
    throw error
  }
}
