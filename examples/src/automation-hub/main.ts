import { serve } from '@unfold-mcp/server'
import { automationHub } from './hub.ts'
import { settingsFrom } from './settings.ts'

await serve(automationHub(settingsFrom(process.env)))
