import { defaultWorkload, type Workload } from './plan.ts'

const keys = ['users', ...Object.keys(defaultWorkload)]

/** Parses `users=1000` or `users=1000,calls=5`. Throws an error that lists the keys. */
export function parseWorkload(text: string): Workload {
  const numbers: { [key: string]: number } = { ...defaultWorkload }
  for (const pair of text.split(',')) {
    const [, key = '', value = ''] = /^(\w+)=([\d_.]+)$/u.exec(pair.trim()) ?? []
    const number = Number(value.replaceAll('_', ''))
    if (!keys.includes(key) || !(number > 0)) throw invalid(pair)
    numbers[key] = number
  }
  const { users, ...rest } = numbers as unknown as Workload
  if (!Number.isInteger(users)) throw invalid(text)
  if (rest.online > 1) throw new Error('online is a share of the users, from 0 to 1.')
  return { users, ...rest }
}

function invalid(text: string): Error {
  return new Error(`Invalid plan: "${text}". Use users=1000 and optionally, after commas, ${keys.slice(1).join(', ')}.`)
}
