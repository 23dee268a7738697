import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Fleet } from './fleet.ts'
import { stageOf } from './rollout.ts'

interface Alert {
  readonly severity: 'warning' | 'critical'
  readonly source: string
  readonly message: string
}

export function addMonitorTools(hub: Toolbox<'monitor'>, fleet: Fleet): void {
  hub.tool(
    'metrics',
    { group: 'monitor', description: 'Load of machines, and pods and errors of services, now.', readOnly: true },
    () => ({
      instances: fleet
        .instances()
        .map(({ name, state }) => ({ name, cpuPercent: state === 'running' ? load(name, fleet.now()) : 0 })),
      services: fleet.services().map(({ name }) => {
        const pods = fleet.pods(name)
        const crashing = pods.filter(({ status }) => status === 'crashing').length
        return { name, pods: pods.length, errorPercent: pods.length === 0 ? 100 : Math.round((100 * crashing) / pods.length) }
      }),
    }),
  )

  hub.tool('alerts', { group: 'monitor', description: 'What needs attention now, worst first.', readOnly: true }, () => ({
    alerts: alertsOf(fleet).sort((a, b) => a.severity.localeCompare(b.severity)),
  }))

  hub.tool(
    'logs',
    {
      group: 'monitor',
      description: 'What happened, the latest first.',
      inputSchema: z.object({
        source: z.string().optional().describe('A machine or a service'),
        limit: z.int().min(1).max(200).default(50),
      }),
      readOnly: true,
    },
    ({ source, limit }) => ({
      events: fleet.events
        .filter((event) => source === undefined || event.source === source)
        .slice(-limit)
        .reverse(),
    }),
  )
}

function alertsOf(fleet: Fleet): Alert[] {
  const stuck = fleet
    .rollouts()
    .filter((rollout) => stageOf(rollout, fleet.now()) === 'stuck')
    .map(({ id, service, to }): Alert => {
      return {
        severity: 'critical',
        source: service,
        message: `${id}: ${to} crashes on start. Roll it back with deploy_rollback.`,
      }
    })
  const thin = fleet
    .services()
    .filter(({ replicas }) => replicas < 2)
    .map(({ name, replicas }): Alert => {
      return {
        severity: replicas === 0 ? 'critical' : 'warning',
        source: name,
        message: `Has ${replicas} pods. Add some with pods_scale.`,
      }
    })
  const stopped = fleet
    .instances()
    .filter(({ state }) => state === 'stopped')
    .map(({ name, cloud }): Alert => ({ severity: 'warning', source: name, message: `Is stopped on ${cloud}.` }))
  return [...stuck, ...thin, ...stopped]
}

/** Simulated load that differs between machines and drifts over time. */
function load(name: string, now: number): number {
  const seed = Buffer.from(name).reduce((sum, byte) => sum + byte, 0)
  return Math.round(40 + 25 * Math.sin(seed + now / 120_000))
}
