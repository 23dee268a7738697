//#region fastify
import { createHandler, toNodeHandler } from '@unfold-mcp/server'
import fastify from 'fastify'
import { clock } from './serving.ts'

export const mcp = createHandler(clock)
const answer = toNodeHandler(mcp)

export const app = fastify()
app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, done) => done(null)) // the handler reads the body itself
  scope.all('/mcp', (request, reply) => {
    reply.hijack()
    answer(request.raw, reply.raw)
  })
})
//#endregion
