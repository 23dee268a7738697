import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Fleet } from './fleet.ts'
import { type Rollout, replacedPods, stageOf } from './rollout.ts'

const serviceSchema = z.string().describe('Such as checkout')

export function addDeployTools(hub: Toolbox<'deploy'>, fleet: Fleet): void {
  const described = (rollout: Rollout) => ({
    id: rollout.id,
    service: rollout.service,
    from: rollout.from,
    to: rollout.to,
    stage: stageOf(rollout, fleet.now()),
    replaced: `${rollout.rolledBack ? 0 : replacedPods(rollout, fleet.now())} of ${rollout.pods} pods`,
  })

  hub.tool(
    'deploy_start',
    {
      group: 'deploy',
      description: 'Deploy a release of a service. Its pods are replaced one after another; watch that with deploy_status.',
      inputSchema: z.object({ service: serviceSchema, version: z.string().describe('Such as 1.4.1') }),
      destructive: true,
    },
    ({ service, version }) => described(fleet.deploy(service, version)),
  )

  hub.tool(
    'deploy_status',
    {
      group: 'deploy',
      description: 'How far deployments are, of one service or of all; the latest first.',
      inputSchema: z.object({ service: serviceSchema.optional() }),
      readOnly: true,
    },
    ({ service }) => ({
      deployments: fleet
        .rollouts(service)
        .filter(({ from }) => from !== undefined)
        .map(described)
        .reverse(),
    }),
  )

  hub.tool(
    'deploy_rollback',
    {
      group: 'deploy',
      description: 'Put back what a service ran before its latest deployment, finished or not.',
      inputSchema: z.object({ service: serviceSchema }),
      destructive: true,
    },
    ({ service }) => described(fleet.rollback(service)),
  )
}
