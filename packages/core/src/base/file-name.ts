const extensions: { readonly [mimeType: string]: string } = {
  'application/json': 'json',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/webp': 'webp',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'text/xml': 'xml',
}

/** Returns a safe file name for a part of a tool result. */
export function fileNameFor(tool: string, mimeType: string, unique: string): string {
  return `${tool.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, 60)}-${unique}.${extensionOf(mimeType)}`
}

function extensionOf(mimeType: string): string {
  const plain = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return Object.hasOwn(extensions, plain) ? (extensions[plain] ?? 'bin') : 'bin'
}
