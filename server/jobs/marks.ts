import { useDatabase } from '../context.ts'

/** How far a schedule has been processed: its runs up to `seen_at` (milliseconds) were started or skipped. */
export interface ScheduleMark {
  service_id: string
  schedule: string
  seen_at: number
}

export function getMark(serviceId: string): ScheduleMark | undefined {
  return useDatabase().get<ScheduleMark>('SELECT * FROM schedule_marks WHERE service_id = ?', serviceId)
}

/** The ids of the services that have a mark. */
export function allMarks(): string[] {
  const rows = useDatabase().all<{ service_id: string }>('SELECT service_id FROM schedule_marks')
  return rows.map(({ service_id }) => service_id)
}

/** Records up to when the runs of a schedule were processed. */
export function setMark(serviceId: string, schedule: string, seenAt: number): void {
  useDatabase().run(
    `INSERT INTO schedule_marks (service_id, schedule, seen_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (service_id) DO UPDATE SET schedule = ?2, seen_at = ?3`,
    serviceId,
    schedule,
    seenAt,
  )
}

/** Forgets the mark of a service whose schedule is not active. */
export function removeMark(serviceId: string): void {
  useDatabase().run('DELETE FROM schedule_marks WHERE service_id = ?', serviceId)
}
