import { describe, expect, it } from 'vitest'
import { controlGroupIn, hierarchiesIn } from '#daemon/engine/control-group.ts'
import { cpuIn, devicesIn, interfacesIn, memoryIn, mountsIn } from '#daemon/metrics/proc.ts'

const ID = 'a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2'

describe('the control group of a container', () => {
  const VERSION_1 = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`
  const VERSION_2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n'

  it('is found in version 1', () => {
    const groups = `9:memory:/docker/${ID}\n4:cpu,cpuacct:/docker/${ID}\n0::/system.slice/docker.service\n`
    const group = controlGroupIn(groups, hierarchiesIn(VERSION_1), ID)!
    expect(group).toMatchObject({
      cpu: `/sys/fs/cgroup/cpu,cpuacct/docker/${ID}/cpuacct.usage`,
      memory: `/sys/fs/cgroup/memory/docker/${ID}/memory.usage_in_bytes`,
    })
    expect(
      group.read('1500000000\n', '900\n', 'cache 500\ninactive_file 100\ntotal_inactive_file 300\n'),
    ).toEqual({
      cpuSeconds: 1.5,
      memoryBytes: 600,
    })
  })

  it.each([
    [`/system.slice/docker-${ID}.scope`, `/system.slice/docker-${ID}.scope`],
    [`/machine.slice/libpod-${ID}.scope/container`, `/machine.slice/libpod-${ID}.scope`],
    [`/docker/${ID}/init.scope`, `/docker/${ID}`],
  ])('is found in version 2: %s', (path, folder) => {
    const group = controlGroupIn(`0::${path}\n`, hierarchiesIn(VERSION_2), ID)!
    expect(group.cpu).toBe(`/sys/fs/cgroup${folder}/cpu.stat`)
    expect(group.read('usage_usec 2500000\nuser_usec 1\n', '900\n', 'anon 1\ninactive_file 200\n')).toEqual({
      cpuSeconds: 2.5,
      memoryBytes: 700,
    })
  })

  it.each([
    ['another process', '0::/user.slice\n', VERSION_2],
    [
      'a server in a container, which sees only its own part',
      `0::/../${ID}\n`,
      VERSION_2.replace(' / ', ' /../.. '),
    ],
    ['nothing', '', ''],
  ])('is not taken from %s', (_, groups, mounts) => {
    expect(controlGroupIn(groups, hierarchiesIn(mounts), ID)).toBeNull()
  })
})

describe('the files of /proc', () => {
  it('show the CPUs and their time', () => {
    const stat = 'cpu  100 50 25 1000 5 0 10 1 0 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 1\n'
    expect(cpuIn(stat)).toEqual({
      cpuCount: 2,
      cpuSeconds: {
        user: 1,
        nice: 0.5,
        system: 0.25,
        idle: 10,
        iowait: 0.05,
        irq: 0,
        softirq: 0.1,
        steal: 0.01,
      },
    })
  })

  it('show the memory, unless the kernel is too old to say what is available', () => {
    const meminfo = 'MemTotal:       2048 kB\nMemFree:         100 kB\nMemAvailable:   1024 kB\n'
    expect(memoryIn(meminfo)).toEqual({ totalBytes: 2_097_152, availableBytes: 1_048_576 })
    expect(memoryIn(meminfo.replace('MemAvailable', 'MemOther'))).toBeNull()
  })

  it("show the host's own interfaces", () => {
    const row = (device: string) =>
      `${device}:7840291727  245010    0    0    0     0          0         0 29509386  1 0 0 0 0 0 0`
    const names = [
      '    lo',
      '  eth0',
      'docker0',
      'br-0123456789ab',
      'br-lan',
      'vethab12',
      'wg0',
      'podman0',
      'eth0.5',
    ]
    const dev = `Inter-|\n face |\n${names.map(row).join('\n')}\n`
    expect(interfacesIn(dev).map(({ device }) => device)).toEqual(['eth0', 'br-lan', 'wg0', 'eth0.5'])
    expect(interfacesIn(dev)[0]).toMatchObject({ receivedBytes: 7_840_291_727, transmittedBytes: 29_509_386 })
  })

  it('show what devices have read and written, in bytes', () => {
    const line = '   8       1 sda1 10 0 2000 5 20 0 4000 6 0 7 8 0 0 0 0\n'
    expect(devicesIn(line).get('8:1')).toEqual({ readBytes: 1_024_000, writtenBytes: 2_048_000 })
  })

  it('show the file systems that contain data, each once, by its whole mount', () => {
    const mountinfo = [
      '42 27 8:1 /data /mnt/bind rw shared:1 - ext4 /dev/sda1 rw',
      '27 1 8:1 / / rw - ext4 /dev/sda1 rw',
      '43 27 8:2 / /srv/my\\040data rw - xfs /dev/sda2 rw',
      '44 27 7:0 / /snap/x ro - squashfs /dev/loop0 ro',
      '45 27 0:50 / /tank rw - zfs tank rw',
      '46 45 0:51 / /tank rw - zfs other rw',
      '22 27 0:21 / /proc rw - proc proc rw',
      '25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw',
    ].join('\n')
    expect(mountsIn(mountinfo).map(({ mountPoint }) => mountPoint)).toEqual(['/', '/srv/my data', '/tank'])
    expect(mountsIn(mountinfo).at(-1)).toMatchObject({ mountPoint: '/tank', source: 'other' })
    expect(mountsIn('1 0 0:44 / / rw - overlay overlay rw')).toMatchObject([{ mountPoint: '/' }])
  })
})
