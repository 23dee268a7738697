import { join } from 'node:path'
import { one, resultIn, type Turn, type Workflow } from '../workflow.ts'

/** Names of the text files that the tasks read. */
export const noteFiles = Array.from({ length: 10 }, (_, index) => `note-${index}.txt`)

interface Text {
  readonly content: string
}

interface Graph {
  readonly relations: readonly { readonly from: string; readonly to: string }[]
}

interface Weather {
  readonly temperature: number
}

const rowsOf = (csv: string): readonly (readonly string[])[] =>
  csv
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))

const todos = (text: string): number => text.split('\n').filter((line) => line.includes('TODO')).length

async function text(turn: Turn, path: string): Promise<string> {
  return (await one<Text>(turn, 'files__read_text_file', { path })).content
}

/** Tasks on servers from npm, and on one of our examples. */
export function realWorkflows(folder: string): readonly Workflow[] {
  const at = (name: string): string => join(folder, name)
  return [
    {
      name: 'one call of a real server',
      isReal: true,
      task: 'What is 19 + 23? Use the calculator.',
      queries: ['sum of two numbers'],
      types: [],
      solve: (turn) => one<string>(turn, 'everything__get-sum', { a: 19, b: 23 }),
      code: `return tools.everything['get-sum']({ a: 19, b: 23 })`,
    },
    {
      name: 'read ten files, write one',
      isReal: true,
      task: `Count the lines with TODO in each text file of ${folder}/notes, and write the counts to ${at('todos.json')}. How many are there?`,
      queries: ['list directory', 'read text file', 'write file'],
      types: ['files__list_directory', 'files__read_text_file', 'files__write_file'],
      solve: async (turn) => {
        await one(turn, 'files__list_directory', { path: at('notes') })
        const steps = noteFiles.map((name) => ({ name: 'files__read_text_file', arguments: { path: join(at('notes'), name) } }))
        const counts = (await turn(steps)).map((outcome) => todos(resultIn<Text>(outcome).content))
        const content = JSON.stringify(Object.fromEntries(noteFiles.map((name, index) => [name, counts[index]])))
        await one(turn, 'files__write_file', { path: at('todos.json'), content })
        return counts.reduce((sum, count) => sum + count, 0)
      },
      code: `const folder = '${at('notes')}'
const { content } = await tools.files.list_directory({ path: folder })
const names = content.split('\\n').filter((line) => line.startsWith('[FILE]')).map((line) => line.slice(7))
const counts: Record<string, number> = {}
await Promise.all(names.map(async (name) => {
  const file = await tools.files.read_text_file({ path: folder + '/' + name })
  counts[name] = file.content.split('\\n').filter((line) => line.includes('TODO')).length
}))
await tools.files.write_file({ path: '${at('todos.json')}', content: JSON.stringify(counts) })
return Object.values(counts).reduce((sum, count) => sum + count, 0)`,
    },
    {
      name: 'sum a CSV file',
      isReal: true,
      task: `What are the totals by category in ${at('sales.csv')}?`,
      queries: ['read text file'],
      types: ['files__read_text_file'],
      solve: async (turn) => {
        const sums: Record<string, number> = {}
        for (const [, category = '', cents] of rowsOf(await text(turn, at('sales.csv'))))
          sums[category] = (sums[category] ?? 0) + Number(cents)
        return sums
      },
      code: `const { content } = await tools.files.read_text_file({ path: '${at('sales.csv')}' })
const sums: Record<string, number> = {}
for (const line of content.trim().split('\\n').slice(1)) {
  const [, category, cents] = line.split(',')
  sums[category] = (sums[category] ?? 0) + Number(cents)
}
return sums`,
    },
    {
      name: 'copy rows to another server',
      isReal: true,
      task: `Remember each person in ${at('people.csv')} as an entity of type person, with role and city as observations. How many are there?`,
      queries: ['read text file', 'create entities in the knowledge graph'],
      types: ['files__read_text_file', 'memory__create_entities'],
      solve: async (turn) => {
        const entities = rowsOf(await text(turn, at('people.csv'))).map(([name = '', role = '', city = '']) => ({
          name,
          entityType: 'person',
          observations: [`role: ${role}`, `city: ${city}`],
        }))
        await one(turn, 'memory__create_entities', { entities })
        return entities.length
      },
      code: `const { content } = await tools.files.read_text_file({ path: '${at('people.csv')}' })
const entities = content.trim().split('\\n').slice(1).map((line) => {
  const [name, role, city] = line.split(',')
  return { name, entityType: 'person', observations: ['role: ' + role, 'city: ' + city] }
})
await tools.memory.create_entities({ entities })
return entities.length`,
    },
    {
      name: 'search a graph',
      isReal: true,
      task: 'Which service in the knowledge graph do most others depend on?',
      queries: ['read the knowledge graph'],
      types: ['memory__read_graph'],
      solve: async (turn) => {
        const { relations } = await one<Graph>(turn, 'memory__read_graph')
        const counts = new Map<string, number>()
        for (const { to } of relations) counts.set(to, (counts.get(to) ?? 0) + 1)
        return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
      },
      code: `const { relations } = await tools.memory.read_graph()
const counts = new Map<string, number>()
for (const { to } of relations) counts.set(to, (counts.get(to) ?? 0) + 1)
return [...counts].sort(([, a], [, b]) => b - a)[0][0]`,
    },
    {
      name: 'compare three replies',
      isReal: true,
      task: 'Which of New York, Chicago and Los Angeles is the warmest?',
      queries: ['weather of a city, structured content'],
      types: ['everything__get-structured-content'],
      solve: async (turn) => {
        const cities = ['New York', 'Chicago', 'Los Angeles']
        const steps = cities.map((location) => ({ name: 'everything__get-structured-content', arguments: { location } }))
        const degrees = (await turn(steps)).map((outcome) => resultIn<Weather>(outcome).temperature)
        return cities[degrees.indexOf(Math.max(...degrees))]
      },
      code: `const cities = ['New York', 'Chicago', 'Los Angeles']
const all = await Promise.all(cities.map((location) => tools.everything['get-structured-content']({ location })))
const degrees = all.map(({ temperature }) => temperature)
return cities[degrees.indexOf(Math.max(...degrees))]`,
    },
    {
      name: 'results without a type',
      isReal: false,
      task: 'Which machines are stopped on AWS and Google Cloud, by name?',
      queries: ['list EC2 instances', 'list GCE instances'],
      types: [],
      probe: 'return JSON.stringify(await tools.devops.ec2_list()).slice(0, 200)',
      solve: async (turn) => {
        const replies = await turn(['devops__ec2_list', 'devops__gce_list'].map((name) => ({ name, arguments: {} })))
        const machines = replies.flatMap(
          (reply) => resultIn<{ instances: readonly { name: string; state: string }[] }>(reply).instances,
        )
        return machines.filter(({ state }) => state === 'stopped').map(({ name }) => name)
      },
      code: `const lists = await Promise.all([tools.devops.ec2_list(), tools.devops.gce_list()])
return lists.flatMap(({ instances }) => instances).filter(({ state }) => state === 'stopped').map(({ name }) => name)`,
    },
  ]
}
