import { buildLimitsFault } from '../../engine/index.ts'
import { listed, passed, skipped, warning, failed, type Check } from '../check.ts'

/** What the server has the engine keep of a container's output. */
const LOG_DRIVER = 'json-file'
/** Each layer is a full copy, or the driver is gone from newer versions (docs.docker.com/engine/storage/drivers). */
const POOR_DRIVERS: Readonly<Record<string, string>> = {
  vfs: 'copies every layer of an image in full, which is slow and takes many times the space',
  devicemapper: 'was removed from Docker 25',
  aufs: 'was removed from Docker 24',
  overlay: 'was removed from Docker 24',
}

const START_ENGINE =
  'Start the engine (systemctl start docker), or name its socket with --docker-host; journalctl -u docker says why it ends.'
const NO_ENGINE = 'the engine does not answer'

export const engine: Check = {
  id: 'engine',
  title: 'Container engine',
  fix: START_ENGINE,
  async look(facts) {
    const { name, version } = await facts.engineInfo()
    const title = `${name === 'docker' ? 'Docker' : 'Podman'} ${version} answers at ${facts.engine.socketPath}`
    const fault = facts.world?.engineFault ?? null
    return fault === null
      ? passed(title)
      : warning(`${title}, but the server has lost it and is reconnecting: ${fault}`, START_ENGINE)
  },
}

export const storageDriver: Check = {
  id: 'storage_driver',
  title: 'Storage driver',
  fix: START_ENGINE,
  async look(facts) {
    const info = await facts.engineInfoIfAny()
    if (!info) return skipped(NO_ENGINE)
    const { storageDriver: driver } = info
    const fault = POOR_DRIVERS[driver]
    return fault === undefined
      ? passed(`images are stored with ${driver || 'a driver that the engine does not name'}`)
      : warning(
          `the engine stores images with ${driver}, which ${fault}`,
          `Set "storage-driver": "overlay2" in /etc/docker/daemon.json and restart Docker. It then starts without images and containers: deploy each service again. ${driver} stays in ${info.dataRoot} until you remove it.`,
        )
  },
}

export const logDriver: Check = {
  id: 'log_driver',
  title: 'Log driver',
  fix: START_ENGINE,
  async look(facts) {
    const info = await facts.engineInfoIfAny()
    if (!info) return skipped(NO_ENGINE)
    const { logDrivers: drivers } = info
    if (drivers.length === 0) return skipped('the engine does not say which log drivers it has')
    return drivers.includes(LOG_DRIVER)
      ? passed(`the engine has ${LOG_DRIVER}, which every container gets, with logs that rotate`)
      : failed(
          `the engine has no log driver ${LOG_DRIVER}, without which no container can be created; it has ${listed(drivers)}`,
          'Use Docker as its makers or your distribution build it.',
        )
  },
}

export const buildLimits: Check = {
  id: 'build_limits',
  title: 'Limits of builds',
  fix: START_ENGINE,
  async look(facts) {
    const info = await facts.engineInfoIfAny()
    if (!info) return skipped(NO_ENGINE)
    const fault = buildLimitsFault(info)
    return fault === null
      ? passed('memory, CPU and processes of all builds together are limited')
      : warning(
          `builds may use all memory and CPU of the host, because ${fault}`,
          'Run the server as root next to a Docker with "exec-opts": ["native.cgroupdriver=cgroupfs"] in its /etc/docker/daemon.json. Otherwise --build-timeout and --build-concurrency are the limits.',
        )
  },
}
