import { useDatabase } from '../context.ts'

/** More than any provider redelivers: it sends a failed delivery again within hours, not after this many pushes. */
const KEPT_DELIVERIES = 5_000

/** Whether a delivery with this body digest, or with this id, was accepted before. */
export function wasHandled(digest: string, deliveryId: string | null): boolean {
  return (
    useDatabase().get(
      'SELECT 1 FROM webhook_deliveries WHERE body_digest = ? OR delivery_id = ?',
      digest,
      deliveryId,
    ) !== undefined
  )
}

/** Records an accepted delivery and forgets the oldest ones. */
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
