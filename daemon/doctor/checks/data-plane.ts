import { VERSION } from '#server/version.ts'
import { messageOf } from '#server/errors.ts'
import { useContext } from '#server/context.ts'
import { failed, passed, warning, type Check } from '../check.ts'

const RESTART =
  'Start the server: it starts the data plane. In a unit of its own: systemctl restart deployer-proxy.'

export const dataPlane: Check = {
  id: 'data_plane',
  title: 'Data plane',
  fix: 'Kill its supervisor, which hangs: the process of control.sock in ss -lxp. The server starts another, and no request fails.',
  async look(facts) {
    const hello = await facts.dataPlane()
    if (!hello) return failed('no data plane runs, so no service is served', RESTART)
    const { pid, server_id, table_version } = hello
    // The part after the plus sign only distinguishes builds of the same version.
    const version = hello.version.split('+')[0]!
    const title = `process ${pid} runs version ${version}`
    if (facts.recordsFault === null && server_id !== useContext().serverId)
      return failed(
        `${title}, but for another server`,
        `Stop it (kill ${pid}) and start the server, which starts its own.`,
      )
    if (version !== VERSION)
      return warning(
        `${title}, and this program is ${VERSION}`,
        'Run deployer proxy upgrade: no request fails.',
      )
    if (table_version === null) return warning(`${title}, but has no routes yet`, RESTART)
    if (facts.world === null) return passed(title)
    try {
      const { open_connections, open_requests } = await facts.world.dataPlane.counts()
      return passed(`${title}, with ${open_connections} connections and ${open_requests} requests open`)
    } catch (error) {
      return failed(`${title}, but does not answer the server: ${messageOf(error)}`, RESTART)
    }
  },
}
