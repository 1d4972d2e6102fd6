// Draws the chart that goes with a message: some 10 ms, which no request of others should wait for.

import { chartPicture, type Pictured } from '../../market/picture/chart-picture.ts'
import type { PictureOutput } from './job.ts'

export const pictureJob = (of: Pictured): PictureOutput => chartPicture(of)
