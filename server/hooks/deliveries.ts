import { useDatabase } from '../context.ts'

/** A provider sends a failed delivery again within hours, not after as many pushes. */
const KEPT_DELIVERIES = 5_000

/** Whether a delivery whose body has this digest, or with this id, was taken before. */
export function wasTaken(digest: string, deliveryId: string | null): boolean {
  return (
    useDatabase().get(
      'SELECT 1 FROM webhook_deliveries WHERE body_digest = ? OR delivery_id = ?',
      digest,
      deliveryId,
    ) !== undefined
  )
}

/** Records a delivery that was not taken before, and forgets the oldest. */
export function recordDelivery(digest: string, deliveryId: string | null): void {
  const database = useDatabase()
  database.transaction(() => {
    database.run(
      'INSERT INTO webhook_deliveries (body_digest, delivery_id, received_at) VALUES (?, ?, ?)',
      digest,
      deliveryId,
      Date.now(),
    )
    database.run(
      'DELETE FROM webhook_deliveries WHERE sequence <= (SELECT max(sequence) FROM webhook_deliveries) - ?',
      KEPT_DELIVERIES,
    )
  })
}
