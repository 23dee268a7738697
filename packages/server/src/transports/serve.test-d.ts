import { defineToolbox } from '../toolbox.ts'
import { createHandler } from './handler.ts'
import { listen } from './node.ts'
import { serve } from './serve.ts'

interface Staff {
  readonly id: string
  readonly role: 'clerk' | 'manager'
}

const toolbox = defineToolbox({
  name: 'desk',
  version: '1.0.0',
  permit: (principal: Staff | undefined, tool) => principal?.role === 'manager' || tool.name === 'read',
})

class Desk {
  readonly name = 'desk'
}

const staff = async (): Promise<Staff> => ({ id: 'ann', role: 'clerk' })
const guest = (): { id: string } => ({ id: 'bob' })

void serve(toolbox, { authenticate: staff })
void listen(toolbox, { authenticate: staff })
createHandler(toolbox, { authenticate: staff })
createHandler(toolbox, { authenticate: () => new Response(null, { status: 401 }) })
void serve(new Desk(), { authenticate: guest })

// @ts-expect-error This is not something that can be served.
void serve({ anything: 1 })
// @ts-expect-error `permit` needs a role, which these principals do not have.
createHandler(toolbox, { authenticate: guest })
// @ts-expect-error The same over stdio.
void serve(toolbox, { principal: { id: 'bob' } })
