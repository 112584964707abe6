import type Docker from 'dockerode'

/** The engine's unit of time, and of a CPU. */
export const NANOSECONDS = 1e9

/** A service that runs on one node, in the network of its host. */
export interface SwarmServiceSpec {
  name: string
  labels: Record<string, string>
  /** The node's id in the swarm. */
  nodeId: string
  /** The id of an image that the node's engine has. */
  image: string
  env: Record<string, string>
  command: string[]
  secret: { id: string; name: string; file: string }
  /** A file or socket of the host, and where the program finds it. */
  mount: { source: string; target: string }
  memoryBytes: number
}

/** The body of the request that creates or changes it. */
export function serviceOptions(spec: SwarmServiceSpec, labels: Record<string, string>): Docker.ServiceSpec {
  const owner = { UID: '0', GID: '0', Mode: 0o400 }
  return {
    Name: spec.name,
    Labels: labels,
    TaskTemplate: {
      ContainerSpec: {
        Image: spec.image,
        Command: spec.command,
        Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
        User: '0:0',
        Init: true,
        ReadOnly: true,
        CapabilityDrop: ['ALL'],
        Mounts: [{ Type: 'bind', Source: spec.mount.source, Target: spec.mount.target }],
        Secrets: [
          {
            SecretID: spec.secret.id,
            SecretName: spec.secret.name,
            File: { Name: spec.secret.file, ...owner },
          },
        ],
      },
      Resources: { Limits: { MemoryBytes: spec.memoryBytes } },
      // An agent is worth nothing elsewhere.
      Placement: { Constraints: [`node.id==${spec.nodeId}`] },
      RestartPolicy: { Condition: 'any', Delay: NANOSECONDS },
      Networks: [{ Target: 'host' }],
      LogDriver: { Name: 'json-file', Options: { 'max-size': '1m', 'max-file': '2' } },
    },
    Mode: { Replicated: { Replicas: 1 } },
    // The new one needs the port of the old one.
    UpdateConfig: { Order: 'stop-first', Parallelism: 1, FailureAction: 'continue' },
    EndpointSpec: { Mode: 'dnsrr' },
  } as unknown as Docker.ServiceSpec
}
