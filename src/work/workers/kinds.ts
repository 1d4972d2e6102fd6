// Maps each kind of job to the function that does it in a worker.

import { advanceJob } from './advance-job.ts'
import { compareJob } from './compare-job.ts'
import { explainJob } from './explain-job.ts'
import { followJob, forwardJob } from './forward-job.ts'
import { judgeJob } from './judge-job.ts'
import { luckJob } from './luck.ts'
import { importJob } from './import-job.ts'
import { packJob, tracksJob } from './pack-job.ts'
import { pictureJob } from './picture-job.ts'
import { pickJob } from './pick-job.ts'
import { checkPortfolioJob, portfolioJob } from './portfolio-job.ts'
import { publishJob } from './publish-job.ts'
import { proposeJob } from './propose-job.ts'
import { replayJob } from './replay-job.ts'
import { previewJob, repaintJob, runJob, verifyJob } from './run-job.ts'
import { scanJob } from './scan-job.ts'
import { trialsJob } from './trials-job.ts'
import { checkAskedJob, checkJob, formatJob } from './text-jobs.ts'
import type { Kinds } from './worker-loop.ts'

export const KINDS: Kinds = {
  run: (job, desk) => runJob(job, desk),
  preview: (job, desk) => previewJob(job, desk),
  trials: trialsJob,
  scan: scanJob,
  portfolio: portfolioJob,
  checkPortfolio: checkPortfolioJob,
  propose: proposeJob,
  judge: judgeJob,
  luck: luckJob,
  forward: forwardJob,
  follow: followJob,
  advance: advanceJob,
  verify: verifyJob,
  repaint: repaintJob,
  explain: explainJob,
  check: checkJob,
  format: formatJob,
  checkAsked: checkAskedJob,
  compare: compareJob,
  replay: replayJob,
  pack: packJob,
  tracks: tracksJob,
  pick: pickJob,
  picture: pictureJob,
  publish: publishJob,
  import: importJob,
}
