import type { Gateway } from '../../gateway/gateway.ts'

/** Reply of `GET /api/documents`: prompts and resources of a server, as it names them. */
export interface ServerDocuments {
  readonly prompts: readonly DocumentRow[]
  readonly resources: readonly DocumentRow[]
  readonly templates: readonly DocumentRow[]
}

export interface DocumentRow {
  /** Name of a prompt, URI of a resource, URI template. */
  readonly id: string
  readonly title: string
  readonly description: string
}

const maxRows = 2_000

/** Prompts and resources of a server; the last known ones while it is not connected. */
export function documentsOf({ proxy }: Gateway, server: string): ServerDocuments {
  const { prompts, resources, templates } = proxy.documents(server)
  const row = (id: string, { title, name, description = '' }: Described): DocumentRow => ({
    id,
    title: title ?? name,
    description,
  })
  return {
    prompts: prompts.slice(0, maxRows).map((prompt) => row(prompt.name, prompt)),
    resources: resources.slice(0, maxRows).map((resource) => row(resource.uri, resource)),
    templates: templates.slice(0, maxRows).map((template) => row(template.uriTemplate, template)),
  }
}

interface Described {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
}
