//#region decorated
import { type ToolContext, ToolGroups, ToolRegistry } from '@unfold-mcp/server'
import { mcpServer, tool } from '@unfold-mcp/server/decorators'

@mcpServer({ groups: 'groups', registry: 'registry' })
export class HybridServer {
  groups = new ToolGroups().withGroup('core', 'The core of this server')
  registry = new ToolRegistry()

  @tool({ activator: 'core', description: 'Activate the core. Enables: core_function.' })
  async activate_core(_input: object, ctx: ToolContext) {
    await this.groups.activate('core', ctx)
  }

  @tool({ group: 'core', description: 'What this server is for' })
  core_function() {
    return 'Done.'
  }
}
//#endregion
