import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Fleet } from './fleet.ts'

export function addKubernetesTools(hub: Toolbox<'k8s'>, fleet: Fleet): void {
  hub.tool(
    'pods_list',
    {
      group: 'k8s',
      description: 'List the pods of a service, or of all, with the version each runs.',
      inputSchema: z.object({ service: z.string().optional() }),
      readOnly: true,
    },
    ({ service }) => {
      const wanted = service === undefined ? fleet.services().map(({ name }) => name) : [service]
      return { pods: wanted.flatMap((name) => fleet.pods(name)) }
    },
  )

  hub.tool(
    'pods_scale',
    {
      group: 'k8s',
      description: 'Set how many pods a service has.',
      inputSchema: z.object({ service: z.string(), replicas: z.int().min(0).max(20) }),
      destructive: true,
      idempotent: true,
    },
    ({ service, replicas }) => {
      fleet.scale(service, replicas)
      return { pods: fleet.pods(service) }
    },
  )
}
