import { defineMachine } from '../state-machine.ts'

export type CertificateStatus = 'pending' | 'issuing' | 'issued' | 'failed'

/**
 * The status changes of a certificate. `issuing` is temporary: after a restart the server continues its order where it was.
 * An older certificate stays in use in every status.
 */
export const certificateMachine = defineMachine<CertificateStatus>({
  table: 'certificates',
  moves: {
    pending: ['pending', 'issuing'],
    issuing: ['issuing', 'issued', 'failed'],
    issued: ['pending', 'issuing'],
    failed: ['pending', 'issuing'],
  },
})
