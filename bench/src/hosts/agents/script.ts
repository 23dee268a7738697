import type { Agent } from '../endpoint/endpoint.ts'
import { searchHost } from './host-search.ts'
import { exchangesOf, isNamed, listedTool } from './tools.ts'

const runCode = 'run_code'

/** An agent that runs one script with `run_code`, and stops when it has a result. */
export function scriptAgent(code: string): Agent {
  return (request) => {
    if (exchangesOf(request).some(({ name }) => isNamed(name, runCode))) return { kind: 'say', text: 'Done.' }
    const listed = listedTool(request, runCode)
    if (listed !== undefined) {
      const { name, namespace } = listed
      return { kind: 'call', name, ...(namespace !== undefined && { namespace }), arguments: { code } }
    }
    return searchHost(request, runCode) ?? { kind: 'say', text: 'Gave up: no run_code.' }
  }
}
