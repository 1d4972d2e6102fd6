// The first page: what Chartroom is, shown by runs of its engine and by the repository's measured figures.

import { documentText, itemsOf, sectionOf, tableOf, dateIn } from './documents.ts'
import { html, inline, Markup, pineCode, table, type LinkTo } from './html.ts'
import type { SitePage } from './page.ts'
import type { ShownRun, ShownSweep } from './runs.ts'

const PARTS: readonly (readonly [
  title: string,
  text: string,
  links: readonly (readonly [string, string])[],
])[] = [
  [
    'The chart',
    'One to eight charts, linked by symbol, interval, crosshair or time. 49 drawing tools, Renko, Kagi and point and figure, spreads and continuous futures, and a key for everything.',
    [
      ['/help/chart', 'The chart'],
      ['/help/chart-types', 'Its types'],
    ],
  ],
  [
    'Optimise and scan',
    'Sweeps by grid, random, Sobol, TPE and CMA-ES, with walk-forward, hold-out and Monte Carlo. Scans run a script over many markets; portfolios trade up to twenty strategies with the same money.',
    [
      ['/help/optimise', 'Sweeps'],
      ['/help/scans', 'Scans'],
      ['/help/portfolios', 'Portfolios'],
    ],
  ],
  [
    'Compare with TradingView',
    'Drop its list of trades or its XLSX on a report. Chartroom says where they differ, and looks for what explains it: settings, inputs, history, feed, session, day or version of the script.',
    [['/help/compare-tradingview', 'Compare']],
  ],
  [
    'Follow and replay',
    'Forward runs follow a strategy on paper from now on, a closed bar at a time. Repaint finds what a script knows of the future. A replay shows the past bar by bar.',
    [
      ['/help/forward-runs', 'Forward runs'],
      ['/help/repaint', 'Repaint'],
      ['/help/replay', 'Replay'],
    ],
  ],
  [
    'Be told',
    'Alerts on prices, indicators and strategies reach browsers, Telegram, Discord, Slack, ntfy, mail or a signed webhook, with a picture of the chart. A bridge sends a strategy’s orders to a broker’s webhook, dry at first.',
    [
      ['/help/alerts', 'Alerts'],
      ['/help/channels', 'Channels'],
      ['/help/brokers', 'Bridges'],
    ],
  ],
  [
    'For programs and agents',
    'All of it is an API, with clients for TypeScript and Python in one file each. Agents have 14 tools over MCP, and bars that are held out from them. The engine alone is a package for npm.',
    [
      ['/help/api', 'The API'],
      ['/help/mcp', 'Agents'],
      ['/help/command-line', 'The command line'],
    ],
  ],
]

export function firstPage(
  shown: { readonly run: ShownRun; readonly sweep: ShownSweep },
  version: string,
  linkTo: LinkTo,
): SitePage {
  const readme = documentText('README.md')
  const [, opening = ''] = readme.split(/^# Chartroom$/m)
  const [said, ...rest] = opening
    .trim()
    .split('\n\n')[0]!
    .replaceAll('\n', ' ')
    .split(/(?<=\.) /)
  return {
    address: '/',
    title: 'Chartroom: Pine Script strategies on your own machine, trade by trade',
    description: said!,
    body: html`<section class="hero">
        <div class="wide">
          <p class="eyebrow">
            <a href="/changes">Version ${version}</a><span>Apache-2.0</span><span>One executable</span>
          </p>
          <h1>A strategy tester you own.</h1>
          <p class="lead">${said!}</p>
          <p class="acts">
            <a class="button" href="/try">Try it in this browser</a
            ><a class="button second" href="/download">Download</a>
          </p>
        </div>
        ${frame(shown.run)}
      </section>
      ${exact(linkTo)} ${luck(shown.sweep)}
      <section class="parts">
        <div class="wide">
          <h2>One place for all of it</h2>
          <p class="lead">${rest.join(' ')}</p>
          <ul class="cards">
            ${PARTS.map(
              ([title, text, links]) =>
                html`<li>
                  <h3>${title}</h3>
                  <p>${text}</p>
                  <p class="more">${links.map(([to, name]) => html`<a href="${to}">${name}</a>`)}</p>
                </li>`,
            )}
          </ul>
        </div>
      </section>
      ${fast(readme)} ${safe(readme, linkTo)}
      <section class="start">
        <div class="wide narrow">
          <h2>One command to begin with</h2>
          <p class="lead">
            Nothing but Node or Bun has to be installed. It has real bars to begin with, and keeps its data in
            a folder beside it.
          </p>
          <pre tabindex="0" role="group" aria-label="Commands"><code><i class="c"># in a clone</i>
npm start
<i class="c"># then open http://127.0.0.1:3000</i></code></pre>
          <p class="acts">
            <a class="button" href="/download">Download</a
            ><a class="button second" href="/help/getting-started">The first steps</a>
          </p>
        </div>
      </section>`,
  }
}

function frame({ file, source, chart, figures, market }: ShownRun): Markup {
  return html`<figure class="frame" data-made>
    <div class="window">
      <div class="title">
        <span class="dots" aria-hidden="true"></span><span class="tab">${file}</span
        ><span class="symbol">${market}</span>
      </div>
      <pre
        class="code"
        tabindex="0"
        role="group"
        aria-label="The strategy"
      ><code>${pineCode(source)}</code></pre>
      <div class="shown">
        ${chart}
        <dl class="figures">
          ${figures.map(
            ([name, value, tone]) =>
              html`<div>
                <dt>${name}</dt>
                <dd class="${tone}">${value}</dd>
              </div>`,
          )}
        </dl>
      </div>
    </div>
    <figcaption>
      Not a drawing: the engine ran this strategy when this page was built.
      <a href="/try">Run it yourself, in this browser.</a>
    </figcaption>
  </figure>`
}

function exact(linkTo: LinkTo): Markup {
  const board = documentText('tests/parity/SCOREBOARD.md')
  const { rows } = tableOf(sectionOf(board, 'In short'))
  const rivals = tableOf(sectionOf(board, 'What others say of themselves'))
  return html`<section class="exact">
    <div class="wide">
      <h2>Exactness is a number, so here it is</h2>
      <p class="lead">
        Held against TradingView’s own exports, of ${dateIn(board)}. Every difference has a name, and two
        commands measure it again.
      </p>
      <ul class="board">
        ${rows.map(([name = '', exactly = '', cases = '']) => {
          const [, hold = '', of = '', unit = ''] = /^([\d,]+) of ([\d,]+)\s*(.*)$/.exec(exactly) ?? []
          const share = Number(hold.replaceAll(',', '')) / Number(of.replaceAll(',', ''))
          return html`<li>
            <p class="big">${hold}<span> of ${of}${unit === '' ? '' : ` ${unit}`}</span></p>
            <svg class="meter" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">
              <rect width="100" height="2" />
              <rect class="full" width="${(share * 100).toFixed(2)}" height="2" />
            </svg>
            <p>${inline(name, linkTo)}</p>
            ${cases === '' ? html`` : html`<p class="cases">${cases} cases wholly exact</p>`}
          </li>`
        })}
      </ul>
      <h3>What others say of themselves</h3>
      <p>Each counts its own way, on scripts of its own; none of them was run here.</p>
      ${table(
        ['Engine', 'Says', 'As of'].map((name) => html`${name}`),
        rivals.rows.map(([engine = '', says = '', when = '']) => [
          html`${engine}`,
          html`${says}`,
          html`${when}`,
        ]),
        'What others say of themselves',
      )}
      <p class="more">
        <a href="/exactness">The whole board, with every difference by its name</a
        ><a href="/help/what-is-exact">What is exact, and what is not</a>
      </p>
    </div>
  </section>`
}

function luck({ map, sentence, tried, market }: ShownSweep): Markup {
  return html`<section class="luck" data-made>
    <div class="wide halves">
      <div>
        <h2>It tells you when it was luck</h2>
        <p class="lead">
          Try ${tried} pairs of averages, and one of them is the best. Chartroom then asks what is left of it
          when luck is taken away: deflated Sharpe ratio, overfitting, White’s and Hansen’s tests, Monte
          Carlo.
        </p>
        <blockquote>
          <p>${sentence}</p>
          <footer>Its verdict on what is beside this, in its own words</footer>
        </blockquote>
        <p class="more"><a href="/help/sweep-verdict">What is left of the best of many</a></p>
      </div>
      <figure>
        ${map}
        <figcaption>
          Sharpe ratio a bar by the lengths of two averages. ${market}; run when this page was built.
        </figcaption>
      </figure>
    </div>
  </section>`
}

/** How many times as long others take, as the README's words say it; null where they say something else. */
function timesOf(words: string): number | null {
  const [, times] = /some (\d+) times as long/.exec(words) ?? []
  if (times !== undefined) return Number(times)
  if (/takes half as long/.test(words)) return 0.5
  return /takes as long/.test(words) ? 1 : null
}

function fast(readme: string): Markup {
  const section = sectionOf(readme, 'How fast')
  const { rows } = tableOf(section)
  const notes = section.split(/\n\n/).at(-1)!.replaceAll('\n', ' ')
  const bar = (times: number) => (Math.min(1, times / 50) * 100).toFixed(1)
  return html`<section class="fast">
    <div class="wide">
      <h2>Answers while you type</h2>
      <dl class="races">
        ${rows.map(([what = '', here = '', beside = '']) => {
          const times = timesOf(beside)
          const width = times === null ? null : [bar(1), bar(times)]
          return html`<div>
            <dt>${what}</dt>
            <dd>
              <strong>${here}</strong><span>${beside}</span>${
                width
                  ? html`<svg viewBox="0 0 100 5" preserveAspectRatio="none" aria-hidden="true">
                      <rect class="ours" width="${width[0]!}" height="2" />
                      <rect class="theirs" y="3" width="${width[1]!}" height="2" />
                    </svg>`
                  : html``
              }
            </dd>
          </div>`
        })}
      </dl>
      <p class="note">${inline(notes.replace(/ \[More of\s+that\]\([^)]*\)$/, ''), () => null)}</p>
      <p class="more"><a href="/speed">All benches, each beside what is wanted of it</a></p>
    </div>
  </section>`
}

function safe(readme: string, linkTo: LinkTo): Markup {
  const items = itemsOf(sectionOf(readme, 'How safe'))
  return html`<section class="safe">
    <div class="wide">
      <h2>Yours, and there after a crash</h2>
      <ul class="facts">
        ${items.map((item) => html`<li>${inline(item, linkTo)}</li>`)}
      </ul>
    </div>
  </section>`
}
