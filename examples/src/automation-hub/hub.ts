/**
 * Shows a menu of groups: a new client sees three activators and `deactivate`, and activates the groups that its task needs.
 * All three groups work on one folder: $AUTOMATION_HUB_FOLDER, or automation-hub under $UNFOLD_HOME.
 *
 *   npm run -s example -- automation-hub                  over standard input and output
 *   npm run -s example -- automation-hub --http 8000      at http://127.0.0.1:8000/mcp
 */
import { join } from 'node:path'
import { defineToolbox } from '@unfold-mcp/server'
import { addDatabaseTools } from './database.ts'
import { databaseIn } from './database-file.ts'
import { addFileTools } from './files.ts'
import { folderAt } from './folder.ts'
import { addNetworkTools } from './network.ts'
import type { Settings } from './settings.ts'

export function automationHub({ folder, ...limits }: Settings) {
  const hub = defineToolbox({
    name: 'automation-hub',
    version: '1.0.0',
    description: 'Multi-purpose automation hub. Activate specific capabilities as needed.',
    groups: {
      file_ops: { description: 'File operations: read, write, delete, move' },
      network: { description: 'Network operations: fetch, download, upload' },
      database: { description: 'Database operations: query, insert, update' },
    },
    // A model that remembers a tool from an earlier conversation learns which group to activate.
    hiddenCalls: 'hint',
  })
  // The database is outside the files folder, so that no file tool can damage it.
  const files = folderAt(join(folder, 'files'))
  addFileTools(hub, files)
  addNetworkTools(hub, files, limits)
  addDatabaseTools(hub, databaseIn(join(folder, 'database.json')))
  return hub
}
