//#region tree
import { defineToolbox } from '@unfold-mcp/server'

export const devops = defineToolbox({
  name: 'devops',
  version: '1.0.0',
  groups: {
    infra: { description: 'Infrastructure' },
    aws: { description: 'AWS', parent: 'infra', excludes: ['gcp'] },
    gcp: { description: 'GCP', parent: 'infra' },
    deploy: { description: 'Deployments', needs: ['monitor'] },
    monitor: { description: 'Logs and metrics' },
    status: { description: 'What is running now', default: true },
  },
})

devops.tool('list_networks', { group: 'infra', description: 'List networks' }, () => ({ networks: ['main'] }))
devops.tool('ec2_list', { group: 'aws', description: 'List EC2 instances' }, () => ({ instances: ['i-1'] }))
devops.tool('gce_list', { group: 'gcp', description: 'List GCE instances' }, () => ({ instances: ['vm-1'] }))
devops.tool('deploy', { group: 'deploy', description: 'Deploy the newest build' }, () => 'Deployed.')
devops.tool('read_logs', { group: 'monitor', description: 'Read the newest log lines' }, () => 'All is well.')
devops.tool('list_services', { group: 'status', description: 'List services' }, () => ({ services: ['web'] }))
//#endregion

//#region stepwise
export const clouds = defineToolbox({
  name: 'clouds',
  version: '1.0.0',
  menu: 'stepwise',
  groups: {
    cloud: { description: 'Machines of cloud providers' },
    amazon: { description: 'Machines at Amazon', parent: 'cloud' },
    google: { description: 'Machines at Google', parent: 'cloud' },
    files: { description: 'Files of this machine' },
  },
})
//#endregion
clouds.tool('amazon_list', { group: 'amazon', description: 'List machines at Amazon' }, () => ({ machines: ['i-1'] }))
clouds.tool('google_list', { group: 'google', description: 'List machines at Google' }, () => ({ machines: ['vm-1'] }))
clouds.tool('read_file', { group: 'files', description: 'Read a file' }, () => 'All is well.')

//#region quota
export const workshop = defineToolbox({
  name: 'workshop',
  version: '1.0.0',
  groups: {
    wood: { description: 'Work with wood' },
    metal: { description: 'Work with metal' },
    paint: { description: 'Paint things' },
  },
  quota: { groups: 2, whenFull: 'evict' },
})
//#endregion
workshop.tool('saw', { group: 'wood', description: 'Saw a board' }, () => 'Sawn.')
workshop.tool('weld', { group: 'metal', description: 'Weld two parts' }, () => 'Welded.')
workshop.tool('paint', { group: 'paint', description: 'Paint a part' }, () => 'Painted.')

/** A database that somebody must connect to. */
class Connection {
  static readonly open = new Set<Connection>()
  static async to(_name: string): Promise<Connection> {
    const made = new Connection()
    Connection.open.add(made)
    return made
  }
  query(_sql: string): readonly number[] {
    return [1]
  }
  async end(): Promise<void> {
    Connection.open.delete(this)
  }
}
export const openConnections = (): number => Connection.open.size

//#region hooks
const connections = new Map<string, Connection>()

export const reports = defineToolbox({
  name: 'reports',
  version: '1.0.0',
  groups: {
    database: {
      description: 'Ask the database',
      hooks: {
        activate: async ({ scope }) => {
          connections.set(scope, await Connection.to('sales'))
        },
        deactivate: async ({ scope }) => {
          await connections.get(scope)?.end()
          connections.delete(scope)
        },
      },
    },
  },
})

reports.tool('count_orders', { group: 'database', description: 'Count the orders' }, (_input, ctx) => ({
  orders: connections.get(ctx.scope)?.query('select count(*) from orders'),
}))
//#endregion

//#region by-hand
export const files = defineToolbox({
  name: 'files',
  version: '1.0.0',
  groups: { editing: { description: 'Change files' } },
})

files.tool(
  'start_editing',
  { activator: 'editing', description: 'Start to edit. Enables: rename_file.' },
  async (_input, ctx) => {
    await ctx.activate('editing')
    return 'Be careful: changes are final.'
  },
)

files.tool('rename_file', { group: 'editing', description: 'Rename a file' }, () => 'Renamed.')
//#endregion

//#region outside
export async function closeForTheNight(): Promise<void> {
  await workshop.deactivate('metal', 'all')
}
//#endregion
