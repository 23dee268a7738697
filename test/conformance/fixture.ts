import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import { defineToolbox, type ListeningServer, listen, type Toolbox, ToolRegistry } from '@unfold-mcp/server'
import { addAnswers } from './fixture/answers.ts'
import { addDocuments } from './fixture/documents.ts'
import { eventStore } from './fixture/events.ts'
import { addQuestions } from './fixture/questions.ts'

/** Serves the tools, prompts and resources that the conformance suite expects, on a free local port. */
export async function serveFixture(): Promise<ListeningServer> {
  const toolbox: Toolbox = defineToolbox({
    name: 'conformance-fixture',
    version: '1.0.0',
    description: 'What the conformance suite asks a server for.',
    groups: { extras: { description: 'Tools that the suite does not ask for' } },
    // Handlers throw on purpose.
    report: () => undefined,
  })
  toolbox.tool('extra', { group: 'extras', description: 'A tool behind an activator' }, () => 'extra')
  addAnswers(toolbox)
  addQuestions(toolbox)
  addDocuments(toolbox)
  const skills = await SkillsExtension.load(memorySkillFiles(skillFiles))
  toolbox.extend((mcp) => skills.attach(mcp))
  addChanges(toolbox, () => listening.handler.notify.promptsChanged())
  const listening = await listen(toolbox, { port: 0, sessions: { eventStore, retryMs: 100 } })
  return listening
}

/** Tools that change the list of all clients. */
function addChanges(toolbox: Toolbox, promptsChanged: () => void): void {
  const registry = new ToolRegistry({ name: 'changing' })
  let hasPrompt = false
  toolbox
    .use(registry)
    .tool('test_trigger_tool_change', { description: 'Adds a tool for everyone, or takes it away again' }, () => {
      if (registry.unregister('test_changing_tool') !== undefined) return 'Removed'
      registry.register('test_changing_tool', { description: 'A tool that comes and goes' }, () => 'Here')
      return 'Added'
    })
    .extend((mcp) => {
      if (!hasPrompt) return
      mcp.registerPrompt('test_changing_prompt', { description: 'A prompt that comes and goes' }, () => ({ messages: [] }))
    })
    .tool('test_trigger_prompt_change', { description: 'Adds a prompt for everyone, or takes it away again' }, () => {
      hasPrompt = !hasPrompt
      promptsChanged()
      return hasPrompt ? 'Added' : 'Removed'
    })
}

const skillFiles = {
  'greeting/SKILL.md':
    '---\nname: greeting\ndescription: How to greet someone.\n---\n\nSay hello, as references/words.md shows.\n',
  'greeting/references/words.md': 'Hello. Good day.\n',
}
