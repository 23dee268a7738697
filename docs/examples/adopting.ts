//#region gate
import { adopt, ToolRegistry } from '@unfold-mcp/server'
import { office } from './adopting-before.ts'

export const gated = adopt(office, {
  gate: 'Files and mail',
  always: ['help'],
})
//#endregion

//#region groups
export const grouped = adopt(office, {
  groups: {
    files: { description: 'Read and write files' },
    mail: { description: 'Send mail' },
  },
  assign: { read_file: 'files', write_file: 'files', send_mail: 'mail' },
  hiddenCalls: 'hint',
})
//#endregion

//#region dynamic
export const plugins = new ToolRegistry({ name: 'plugins' })

export const extended = adopt(office, {
  groups: { files: { description: 'Read and write files' }, mail: { description: 'Send mail' } },
  assign: (tool) => (tool.name.endsWith('_file') ? 'files' : tool.name.endsWith('_mail') ? 'mail' : undefined),
}).use(plugins)
//#endregion
