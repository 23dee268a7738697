import { defineToolbox, type Remember } from '@unfold-mcp/server'
import { fileStore } from '@unfold-mcp/server/stores/file'

export function studioThat(remember: Remember, folder: string) {
  //#region store
  const studio = defineToolbox({
    name: 'studio',
    version: '1.0.0',
    groups: { drawing: { description: 'Draw' }, printing: { description: 'Print' } },
    remember, // 'session' (default), 'reconnect' or 'principal'
    store: fileStore(folder),
  })
  //#endregion
  studio.tool('draw', { group: 'drawing', description: 'Draw a picture' }, () => 'Drawn.')
  studio.tool('print', { group: 'printing', description: 'Print a picture' }, () => 'Printed.')
  return studio
}
