//#region tree
import { defineToolbox } from '@unfold-mcp/server'

export const devops = defineToolbox({
  name: 'devops',
  version: '1.0.0',
  groups: {
    infra: { about: 'Infrastructure' },
    aws: { about: 'AWS', parent: 'infra', excludes: ['gcp'] },
    gcp: { about: 'GCP', parent: 'infra' },
    deploy: { about: 'Deployments', needs: ['monitor'] },
    monitor: { about: 'Logs and metrics' },
    status: { about: 'What is running now', default: true },
  },
})

devops.tool('list_networks', { group: 'infra', about: 'List networks' }, () => ({ networks: ['main'] }))
devops.tool('ec2_list', { group: 'aws', about: 'List EC2 instances' }, () => ({ instances: ['i-1'] }))
devops.tool('gce_list', { group: 'gcp', about: 'List GCE instances' }, () => ({ instances: ['vm-1'] }))
devops.tool('deploy', { group: 'deploy', about: 'Deploy the newest build' }, () => 'Deployed.')
devops.tool('read_logs', { group: 'monitor', about: 'Read the newest log lines' }, () => 'All is well.')
devops.tool('list_services', { group: 'status', about: 'List services' }, () => ({ services: ['web'] }))
//#endregion

//#region stepwise
export const clouds = defineToolbox({
  name: 'clouds',
  version: '1.0.0',
  menu: 'stepwise',
  groups: {
    cloud: { about: 'Machines of cloud providers' },
    amazon: { about: 'Machines at Amazon', parent: 'cloud' },
    google: { about: 'Machines at Google', parent: 'cloud' },
    files: { about: 'Files of this machine' },
  },
})
//#endregion
clouds.tool('amazon_list', { group: 'amazon', about: 'List machines at Amazon' }, () => ({ machines: ['i-1'] }))
clouds.tool('google_list', { group: 'google', about: 'List machines at Google' }, () => ({ machines: ['vm-1'] }))
clouds.tool('read_file', { group: 'files', about: 'Read a file' }, () => 'All is well.')

//#region quota
export const workshop = defineToolbox({
  name: 'workshop',
  version: '1.0.0',
  groups: {
    wood: { about: 'Work with wood' },
    metal: { about: 'Work with metal' },
    paint: { about: 'Paint things' },
  },
  quota: { groups: 2, whenFull: 'evict' },
})
//#endregion
workshop.tool('saw', { group: 'wood', about: 'Saw a board' }, () => 'Sawn.')
workshop.tool('weld', { group: 'metal', about: 'Weld two parts' }, () => 'Welded.')
workshop.tool('paint', { group: 'paint', about: 'Paint a part' }, () => 'Painted.')

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
      about: 'Ask the database',
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

reports.tool('count_orders', { group: 'database', about: 'Count the orders' }, (_input, ctx) => ({
  orders: connections.get(ctx.scope)?.query('select count(*) from orders'),
}))
//#endregion

//#region by-hand
export const files = defineToolbox({
  name: 'files',
  version: '1.0.0',
  groups: { editing: { about: 'Change files' } },
})

files.tool('start_editing', { activator: 'editing', about: 'Start to edit. Enables: rename_file.' }, async (_input, ctx) => {
  await ctx.activate('editing')
  return 'Be careful: changes are final.'
})

files.tool('rename_file', { group: 'editing', about: 'Rename a file' }, () => 'Renamed.')
//#endregion

//#region outside
export async function closeForTheNight(): Promise<void> {
  await workshop.deactivate('metal', 'all')
}
//#endregion
