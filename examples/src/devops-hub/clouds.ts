import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Fleet } from './fleet.ts'
import type { Cloud } from './shop.ts'

const products = {
  aws: { machines: 'ec2', machine: 'EC2 instance', store: 's3', stores: 'S3 buckets' },
  gcp: { machines: 'gce', machine: 'GCE instance', store: 'gcs', stores: 'Cloud Storage buckets' },
} as const

/** Four tools for each cloud, with the names that its users know. */
export function addCloudTools(hub: Toolbox<Cloud>, fleet: Fleet): void {
  for (const cloud of ['aws', 'gcp'] as const) {
    const { machines, machine, store, stores } = products[cloud]
    const inputSchema = z.object({ id: z.string().describe(`As ${machines}_list shows it`) })

    hub.tool(`${machines}_list`, { group: cloud, description: `List every ${machine} with its state.`, readOnly: true }, () => ({
      instances: fleet.instances(cloud).map(({ id, name, zone, state }) => ({ id, name, zone, state })),
    }))

    hub.tool(
      `${machines}_start`,
      {
        group: cloud,
        description: `Start one ${machine}; it takes a few seconds.`,
        inputSchema,
        destructive: false,
        idempotent: true,
      },
      ({ id }) => fleet.turn(cloud, id, 'on'),
    )

    hub.tool(
      `${machines}_stop`,
      { group: cloud, description: `Stop one ${machine}.`, inputSchema, destructive: true, idempotent: true },
      ({ id }) => fleet.turn(cloud, id, 'off'),
    )

    hub.tool(`${store}_list`, { group: cloud, description: `List ${stores} with their sizes.`, readOnly: true }, () => ({
      buckets: fleet.buckets(cloud).map(({ name, objects, megabytes }) => ({ name, objects, megabytes })),
    }))
  }
}
