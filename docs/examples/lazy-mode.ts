//#region toolbox
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

export const office = defineToolbox({
  name: 'office',
  version: '1.0.0',
  groups: {
    mail: { description: 'Letters and mail' },
    calendar: { description: 'Meetings' },
  },
  exposure: 'lazy',
})

office.tool(
  'send_mail',
  { group: 'mail', description: 'Send an e-mail', inputSchema: z.object({ to: z.email(), subject: z.string() }) },
  ({ to }) => `Sent to ${to}.`,
)
office.tool('read_mail', { group: 'mail', description: 'Read new e-mail', readOnly: true }, () => ({ mail: [] }))
office.tool(
  'book_meeting',
  { group: 'calendar', description: 'Book a meeting', inputSchema: z.object({ title: z.string(), date: z.iso.date() }) },
  ({ title, date }) => `${title} is booked for ${date}.`,
)
//#endregion

let time = 0
/** Some time passes for the server that learns. */
export const wait = (ms: number): void => {
  time += ms
}

/** The same with a clock of its own. */
export const watched = defineToolbox({ name: 'office', version: '1.0.0', exposure: 'lazy', now: () => time })
  .tool('read_mail', { description: 'Read new e-mail' }, () => 'No new mail.')
  .tool('count_mail', { description: 'Count e-mail' }, () => '0')
