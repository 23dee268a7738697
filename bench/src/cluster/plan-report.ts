import { countText, tableOf } from '../list/table.ts'
import { type Cell, type Limit, limits, type Plan, type Workload } from './plan.ts'

/** Renders a plan as text. */
export function planText(workload: Workload, plan: Plan): string {
  const { cells, cell } = plan
  const { users, online, sessions, sessionMinutes, calls, lists } = workload
  return [
    `Capacity for ${countText(users)} users`,
    '',
    `At the busiest time, ${percent(online)} of them are connected, each with ${sessions} sessions of ${sessionMinutes} minutes and`,
    `${calls} calls per minute; ${lists} lists per session. CPU is used to ${percent(limits.cpuUsed)}.`,
    '',
    tableOf(['', ...(cells > 1 ? ['one cell', `all ${countText(cells)} cells`] : ['total'])], rowsOf(cell, cells)),
    '',
    `Settings: limits.sessions and limits.subscriptions of at least ${countText(cell.sessions)}, because any replica serves any session.`,
    '',
    ...advice(plan),
  ].join('\n')
}

function rowsOf(cell: Cell, cells: number): readonly (readonly string[])[] {
  const row = (name: string, value: number, text: (value: number) => string): readonly string[] =>
    cells > 1 ? [name, text(value), text(value * cells)] : [name, text(value)]
  return [
    row('users', cell.users, countText),
    row('sessions', cell.sessions, countText),
    row('calls per second', cell.callsPerSecond, rateText),
    row('lists per second', cell.listsPerSecond, rateText),
    row('replicas, one per cell spare', cell.replicas, countText),
    ['memory per replica', memoryText(cell.replicaBytes)],
    row('cores used by replicas', cell.replicaCpu, rateText),
    row('Redis memory', cell.redisBytes, memoryText),
    row('Redis operations per second', cell.redisOperationsPerSecond, rateText),
    row('cores used by Redis', cell.redisCpu, rateText),
  ]
}

const reasons: { readonly [limit in Limit]: string } = {
  replicas: `more than ${limits.replicas} replicas on one Redis`,
  'replica memory': `more than ${memoryText(limits.replicaBytes)} in each replica`,
  'Redis CPU': 'more operations than one Redis executes',
  'Redis memory': `more than ${memoryText(limits.redisBytes)} in one Redis`,
}

function advice({ cells, limitedBy }: Plan): readonly string[] {
  if (limitedBy === undefined) return ['One Redis with a standby is enough: no sharding.']
  return [
    `Shard by tenant: fewer cells would need ${reasons[limitedBy]}. Each of the ${countText(cells)} cells is a`,
    'deployment with its own Redis and its own URL. A tenant (the users who share tokens, approvals and trust decisions)',
    'belongs to one cell, in the region of its users. Cells share nothing.',
  ]
}

const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`

function rateText(value: number): string {
  return value < 10 ? value.toFixed(2) : countText(Math.round(value))
}

function memoryText(bytes: number): string {
  const gib = bytes / 1_073_741_824
  return gib < 1 ? `${Math.ceil(gib * 1_024)} MiB` : `${countText(Number(gib.toFixed(1)))} GiB`
}
