// Names the engine that made a report. It is part of the report's hash, since another version may compute other numbers.

import { name, version } from '../../package.json'

export const ENGINE = { name, version } as const
