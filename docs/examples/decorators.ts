//#region gate
import { type ToolContext, ToolGroups } from '@unfold-mcp/server'
import { mcpServer, tool } from '@unfold-mcp/server/decorators'
import { z } from 'zod'

@mcpServer({ description: 'Examines source code.', activation: 'activated' })
export class CodeAnalyzer {
  activated = false

  @tool({ activator: true, description: 'Activate the analyzer. Enables: count_lines.' })
  activate() {
    this.activated = true
    return 'Code analyzer activated.'
  }

  @tool({ description: 'Count lines of code', inputSchema: z.object({ code: z.string() }) })
  count_lines({ code }: { code: string }) {
    return { lines: code.split('\n').length }
  }
}
//#endregion

//#region groups
@mcpServer({ version: '1.0.0', groups: 'groups', hiddenToolHint: true })
export class AutomationHub {
  groups = new ToolGroups()
    .withGroup('file_ops', 'File operations')
    .withGroup('network', 'Network operations')
    .withChildGroup('uploads', 'network', 'Sending files')

  @tool({ activator: 'file_ops', description: 'Activate file operations. Enables: read_file.' })
  async activate_file_ops(_input: object, ctx: ToolContext) {
    await this.groups.activate('file_ops', ctx)
    return 'File operations activated.'
  }

  @tool({ group: 'file_ops', description: 'Read a file', inputSchema: z.object({ path: z.string() }) })
  read_file({ path }: { path: string }) {
    return `The content of ${path}.`
  }

  @tool({ group: 'uploads', description: 'Upload a file', inputSchema: z.object({ path: z.string() }) })
  upload({ path }: { path: string }) {
    return `Sent ${path}.`
  }
}
//#endregion
