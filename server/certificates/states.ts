import { defineMachine } from '../state-machine.ts'

export type CertificateStatus = 'pending' | 'issuing' | 'issued' | 'failed'

/**
 * The moves of a certificate. `issuing` is passing: after a restart of the server its order is taken up where it was. An
 * older certificate serves on in every status.
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
