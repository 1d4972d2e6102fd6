// The pages behind the first one: the board of exactness, benches, changes, downloads, help.

import { SECTIONS } from '../../dashboard/help/sections.ts'
import { readArticles } from '../../people/support/read-articles.ts'
import { parseArticle, type Article } from '../../people/support/support.ts'
import { plainText } from '../../lib/markdown.ts'
import { dateIn, documentText, sectionOf, tableOf } from './documents.ts'
import { html, inline, markdown, Markup, nothing, table, type LinkTo } from './html.ts'
import type { SitePage } from './page.ts'
import { archiveOf, TARGETS, type Target } from '../release/targets.ts'

const head = (title: string, lead: string | Markup) =>
  html`<header class="head">
    <div class="wide">
      <h1>${title}</h1>
      <p class="lead">${lead}</p>
    </div>
  </header>`

/** The board in the order in which it is asked for: what is exact, who else says what, then every difference. */
export function exactnessPage(linkTo: LinkTo): SitePage {
  const board = documentText('tests/parity/SCOREBOARD.md')
  const part = (heading: string) => `## ${heading}\n\n${sectionOf(board, heading)}\n\n`
  const commands = board.split(/^## /m)[0]!.split('\n').slice(1).join('\n').replaceAll(/^ {4}/gm, '')
  const [said = '', ...lines] = commands.trim().split('\n\n')
  const parts = [
    part('In short'),
    part('What others say of themselves'),
    part('Differences, by name'),
    part('Trades and values'),
    part('Facts'),
    part('Scripts that compile'),
    part('Where the material is'),
    `## Measure it again\n\n${said}\n\n\`\`\`sh\n${lines.join('\n').trim()}\n\`\`\`\n`,
  ]
  return {
    address: '/exactness',
    title: 'How exact Chartroom is',
    description:
      'Chartroom held against TradingView’s own exports, with rivals, dates and every difference by its name.',
    body: html`${head('How exact it is', `Held against TradingView’s own exports, facts that others measured, and public scripts. Of ${dateIn(board)}.`)}
      <div class="wide prose">${markdown(parts.join(''), linkTo)}</div>`,
  }
}

export function speedPage(linkTo: LinkTo): SitePage {
  const figures = documentText('tests/FIGURES.md')
  const { head: names, rows } = tableOf(figures)
  const shown = rows.filter(([what = '']) => !what.startsWith('kind:'))
  const kinds = rows.filter(([what = '']) => what.startsWith('kind:'))
  const cells = (row: readonly string[]) => row.map((cell) => html`${cell}`)
  const article = parseArticle('how-fast', readArticles()['how-fast']!)
  const [, said = ''] = /^# .*\n\n([^]*?)\n\n<!--/.exec(figures) ?? []
  return {
    address: '/speed',
    title: 'How fast Chartroom is',
    description: 'Every bench of Chartroom beside the least that can be and what is wanted of it.',
    body: html`${head('How fast it is', 'Measured, dated, and beside what others take for the same.')}
      <div class="wide prose">
        ${markdown(article.body, linkTo)}
        <h2>Each figure beside its limit</h2>
        ${markdown(said, linkTo)} ${table(cells(names), shown.map(cells), 'Benches')}
        <h3>Single functions of Pine</h3>
        ${table(
          cells([names[0]!, names[1]!, names[4]!]),
          kinds.map((row) => cells([row[0]!.replace('kind: ', ''), row[1]!, row[4]!])),
          'Benches of single functions',
        )}
      </div>`,
  }
}

export function changesPage(linkTo: LinkTo): SitePage {
  const text = documentText('CHANGELOG.md').replace(/^# .*\n/, '')
  const [lead = ''] = text.trim().split('\n\n')
  return {
    address: '/changes',
    title: 'What is new in Chartroom',
    description: 'What people who use or run Chartroom notice, by version.',
    body: html`${head('What is new', inline(lead, linkTo))}
      <div class="wide prose">${markdown(text.trim().slice(lead.length), linkTo)}</div>`,
  }
}

const SYSTEMS: Readonly<Record<Target['os'], string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }

export function downloadPage(version: string, repository: string | undefined, linkTo: LinkTo): SitePage {
  const { body } = parseArticle('docker', readArticles()['docker']!)
  const below = (name: string) => `**${name}.** ${body.split(`**${name}.** `)[1]!.split(/^\*\*/m)[0]!}`
  const archive = (target: Target) => {
    const name = archiveOf(target, version)
    return repository === undefined
      ? html`<code>${name}</code>`
      : html`<a href="${repository}/releases/download/v${version}/${name}"><code>${name}</code></a>`
  }
  const rows = TARGETS.map((target) => [
    html`${SYSTEMS[target.os]}`,
    html`${target.cpu}${target.libc === 'musl' ? ', Alpine' : ''}`,
    archive(target),
    html`<code>npm run build -- --target ${target.name}</code>`,
  ])
  const names = ['System', 'Machine', 'File of a release', 'Built by'].map((name) => html`${name}`)
  return {
    address: '/download',
    title: 'Download Chartroom',
    description: 'Chartroom for Linux, macOS and Windows as one executable, and how to verify it.',
    body: html`${head('Download', `Version ${version}. One file with its database inside: copy it anywhere, and run it.`)}
      <div class="wide prose">
        ${table(names, rows, 'Files of a release')}
        ${
          repository === undefined
            ? html`<p>
                This copy of the page names no place where these files lie. In a clone the command beside each
                builds its executable, on any of the systems.
              </p>`
            : nothing
        }
        <p>
          Without a download: in a clone <code>npm start</code> runs Chartroom from its source, with nothing
          installed but Node or Bun, and <a href="/try">the playground</a> runs scripts in this browser.
        </p>
        <h2>Verify it</h2>
        ${markdown(below('Releases'), linkTo)}
        <h2>Start it</h2>
        <pre tabindex="0" role="group" aria-label="Commands"><code>./chartroom serve</code></pre>
        <p>
          It is at <code>http://127.0.0.1:3000</code>, with its data in <code>./data</code>. On this machine
          the page asks for the first account. <a href="/help/getting-started">The first steps</a>
        </p>
        <h2>By npm, or in a container</h2>
        ${markdown(`${below('npx')}\n\n${below('Docker')}`, linkTo)}
      </div>`,
  }
}

export function helpPages(linkTo: LinkTo): SitePage[] {
  const texts = readArticles()
  const articles = new Map(Object.entries(texts).map(([id, text]) => [id, parseArticle(id, text)]))
  const order = SECTIONS.flatMap(([, ids]) => ids)
  const contents: SitePage = {
    address: '/help/',
    title: 'Help for Chartroom',
    description: 'All articles that come with Chartroom.',
    body: html`${head('Help', 'The articles that come with Chartroom, as they are in the page under Help.')}
      <div class="wide contents">
        ${SECTIONS.map(
          ([title, ids]) =>
            html`<section>
              <h2>${title}</h2>
              <ul>
                ${ids.map((id) => html`<li><a href="/help/${id}">${articles.get(id)!.title}</a></li>`)}
              </ul>
            </section>`,
        )}
      </div>`,
  }
  return [
    contents,
    ...order.map((id, i) => articlePage(articles.get(id)!, articles, [order[i - 1], order[i + 1]], linkTo)),
  ]
}

function articlePage(
  article: Article,
  articles: ReadonlyMap<string, Article>,
  [before, after]: readonly [string | undefined, string | undefined],
  linkTo: LinkTo,
): SitePage {
  const link = (id: string | undefined, rel: string, name: string) =>
    id === undefined
      ? html`<span></span>`
      : html`<a rel="${rel}" href="/help/${id}"><span>${name}</span>${articles.get(id)!.title}</a>`
  const list = (ids: readonly string[]) =>
    html`<ul>
      ${ids.map((id) => html`<li><a href="/help/${id}" ${id === article.id ? new Markup(' aria-current="page"') : nothing}>${articles.get(id)!.title}</a></li>`)}
    </ul>`
  const section = SECTIONS.find(([, ids]) => ids.includes(article.id))!
  return {
    address: `/help/${article.id}`,
    title: `${article.title} · Chartroom`,
    description: plainText(article.body, 150),
    body: html`<div class="wide article">
      <nav class="aside" aria-label="Help">
        <p><a href="/help/">Help</a></p>
        ${SECTIONS.map(([title, ids]) => html`<details${title === section[0] ? new Markup(' open') : nothing}><summary>${title}</summary>${list(ids)}</details>`)}
      </nav>
      <article class="prose">
        <p class="eyebrow">${section[0]}</p>
        <h1>${article.title}</h1>
        ${markdown(article.body, linkTo)}
        <nav class="beside" aria-label="Next to this">
          ${link(before, 'prev', 'Before')}${link(after, 'next', 'Next')}
        </nav>
      </article>
    </div>`,
  }
}
