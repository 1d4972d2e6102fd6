// Which engine made a report: part of its hash, since another version may compute another number.

import { name, version } from '../../package.json'

export const ENGINE = { name, version } as const
