// Package browser_test tries the dashboard in Chromium, with a real coordinator and real workers.
package browser_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A visitor follows a sweep from its first job to its end, on one page that is never loaded again, and reads its results.
func TestDashboard(t *testing.T) {
	b, source := newTab(t), axe(t)
	c := newCluster(t)
	b.open(c.url)
	b.accessible("login", source)
	b.login(c)
	b.accessible("empty", source)

	id := c.do("submit", "--method", "sips", "--particles", "60", "--runs", "5", "--models", "full,plan-lesioned,boltzmann")
	b.press(".brand")
	b.press(".sweeps a")
	b.script("window.marked = true")
	c.work(2)
	const done = "Number(document.getElementById('cells-done').textContent)"
	b.wait("a tenth of the cells", done+" > 30")
	before := evaluate[int](b, done)
	b.wait("more cells", fmt.Sprintf("%s > %d", done, before))
	b.wait("a curve that grows", "document.querySelectorAll('.spots a').length > 3")
	b.picture("running")
	b.wait("the end", "document.querySelector('.badge').textContent === 'done'")
	b.wait("all fits", "document.querySelectorAll('.spots a').length === 34 && document.querySelectorAll('#best tbody tr').length === 3")
	if !evaluate[bool](b, "window.marked === true") {
		t.Error("the page was loaded again")
	}
	b.accessible("sweep", source)

	b.sortsFits()
	b.filtersFits()
	b.readsPoints()
	b.followsStimulus(source)

	b.open(c.url + "/workers")
	b.accessible("workers", source)
	b.open(c.url + "/sweeps/" + id + "/extend")
	b.accessible("extend", source)
	b.extends()
	b.accessible("extended", source)
	b.open(c.url + "/share")
	b.accessible("share", source)
	b.sharesAndLeaves(source)
}

// sortsFits clicks on the head of a column.
func (b *tab) sortsFits() {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS("#by-rmse"), chromedp.NodeVisible))
	b.wait("a table by RMSE", "document.querySelector('#fits th[aria-sort=descending]')?.textContent === 'RMSE'")
	b.run(chromedp.Click(chromedp.CSS("#by-rmse"), chromedp.NodeVisible))
	b.wait("the other way round", "document.querySelector('#fits th[aria-sort=ascending]')?.textContent === 'RMSE'")
	const ascending = "(() => { const i = [...document.querySelectorAll('#fits thead th')].findIndex(h => h.textContent === 'RMSE');" +
		"const v = [...document.querySelectorAll('#fits tbody tr')].map(r => Number(r.children[i].textContent)); return v.length === 34 && v.every((x, i) => !i || v[i - 1] <= x) })()"
	if !evaluate[bool](b, ascending) {
		b.t.Error("the fits are not in the order of RMSE")
	}
	if !evaluate[bool](b, "window.marked === true && document.activeElement.id === 'by-rmse'") {
		b.t.Error("the page was loaded again, or the focus is lost")
	}
}

// filtersFits chooses a model and conditions, some of which are no conditions.
func (b *tab) filtersFits() {
	b.t.Helper()
	b.run(
		chromedp.SetValue(chromedp.CSS("#filter select"), "full"),
		chromedp.SendKeys(chromedp.CSS("#filter input"), "search_noise=0.5 budget_r<3"+kb.Enter),
	)
	b.wait("six fits", "document.querySelectorAll('#fits tbody tr').length === 6")
	if got := b.text("#fits .note"); !strings.HasPrefix(got, "1 to 6 of 6 chosen from 34 parameter sets") {
		b.t.Error(got)
	}
	b.run(chromedp.SendKeys(chromedp.CSS("#filter input"), " wrong"+kb.Enter))
	b.wait("what is wrong", `document.querySelector('#fits [role=alert]')?.textContent === '"wrong" is no condition; write one as alpha=0.5 or r>0.8.'`)
	b.script("history.back()")
	b.wait("six fits again", "document.querySelectorAll('#fits tbody tr').length === 6 && document.querySelector('#filter input').value === 'search_noise=0.5 budget_r<3'")
	b.script("filter.elements.model.value = filter.elements.filter.value = ''")
	b.run(chromedp.Click(chromedp.CSS("#filter button")))
	b.wait("all fits again", "document.querySelectorAll('#fits tbody tr').length === 34")
}

// readsPoints points at the best parameter set of the full model, and goes on to its neighbours by keys.
func (b *tab) readsPoints() {
	b.t.Helper()
	b.script("document.getElementById('sensitivity').scrollIntoView()")
	at := evaluate[[]float64](b, "(() => { const r = document.querySelector('#spot-full-23 circle').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2 + 2] })()")
	b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	b.wait("the best set", "/^full #\\d+: r = \\.9\\d\\d \\[.*\\]; goal_noise=0, budget_r=\\d, .*action_noise=/.test(document.querySelector('.readout').textContent)")
	b.picture("hover")
	b.script("document.querySelector('#spot-full-23').focus()")
	best := b.text(".readout")
	b.run(chromedp.KeyEvent(kb.ArrowLeft))
	if next := b.text(".readout"); next == best || !strings.HasPrefix(next, "full #") {
		b.t.Errorf("by the left arrow key, %q came after %q", next, best)
	}
	b.run(chromedp.KeyEvent(kb.ArrowDown))
	if next := b.text(".readout"); !strings.HasPrefix(next, "plan-lesioned #") {
		b.t.Errorf("by the down arrow key came %q", next)
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	b.wait("its row", "document.querySelectorAll('#fits tbody tr').length === 1")
}

// followsStimulus moves through a stimulus step by step.
func (b *tab) followsStimulus(source string) {
	b.t.Helper()
	b.press(".heat tbody a")
	scene := evaluate[string](b, "document.getElementById('scene').src")
	b.run(chromedp.Focus(chromedp.CSS("#step")), chromedp.KeyEvent(kb.Home))
	b.wait("the first scene", "document.getElementById('scene').src.includes('/scene-0.svg') && document.getElementById('scene').naturalWidth > 0")
	if text := b.text("#step-text"); text != "Step 0 of 14, judged" {
		b.t.Error(text)
	}
	b.run(chromedp.KeyEvent(kb.ArrowRight))
	b.wait("the next one", "document.getElementById('scene').src.includes('/scene-1.svg') && document.getElementById('step').getAttribute('aria-valuetext').startsWith('Step 1 of 14: ')")
	b.wait("its files", "[...document.querySelectorAll('#scene-files a')].map(a => a.pathname.split('/').pop()).join() == 'scene-1.svg,scene-1.pdf,scene-1.csv'")
	b.open(strings.Split(evaluate[string](b, "location.href"), "?")[0])
	if again := evaluate[string](b, "document.getElementById('scene').src"); again != scene {
		b.t.Errorf("%s is not %s", again, scene)
	}
	b.accessible("stimulus", source)
}

// extends adds values, wrongly first.
func (b *tab) extends() {
	b.t.Helper()
	b.run(chromedp.SendKeys(chromedp.CSS("#axis-alpha"), "0.75, much"))
	b.press("main form button")
	if got := b.text("[role=alert]"); got != `Alpha: "much" is not a number.` {
		b.t.Error(got)
	}
	b.run(chromedp.SetValue(chromedp.CSS("#axis-alpha"), "0.75, 16"))
	b.press("main form button")
	if got := b.text("main"); !strings.Contains(got, "Extends") {
		b.t.Error(got)
	}
}

// sharesAndLeaves makes a link, logs out, and looks by the link: without what changes anything.
func (b *tab) sharesAndLeaves(source string) {
	b.t.Helper()
	b.press("main form button")
	link := evaluate[string](b, "document.getElementById('link').value")
	b.press("header form button")
	b.open(link)
	b.accessible("link", source)
	b.press("main form button")
	b.press(".sweeps a")
	if evaluate[bool](b, "document.getElementById('extend') !== null") {
		b.t.Error("a visitor by a link for reading can extend a sweep")
	}
	b.accessible("read-only", source)
}

// TestPictures takes those of docs/cluster.md and README.md, of a sweep that is slow enough.
func TestPictures(t *testing.T) {
	if os.Getenv(screenshotsEnv) == "" {
		t.Skip(screenshotsEnv + " names no directory for pictures")
	}
	b := newTab(t)
	c := newCluster(t)
	b.login(c)
	many := c.work(40) // for many slots, jobs are small, and curves grow smoothly
	many.says("connected")
	id := c.do("submit", "--method", "sips", "--particles", "400", "--runs", "10")
	many.stop()
	c.work(1)
	c.work(1)
	b.open(c.url + "/sweeps/" + id)
	b.wait("curves", "document.querySelectorAll('.spots g').length > 1 && document.querySelector('.badge').textContent === 'running'")
	b.front("dashboard", 1262)
	b.open(c.url + "/sweeps/" + id + "/stimuli/3-1?step=8")
	b.front("dashboard-stimulus", 930)
}

// A visitor pauses a sweep, lets it go on, cancels it, and reads why a job of another one has failed.
func TestControl(t *testing.T) {
	b, source := newTab(t), axe(t)
	c := newCluster(t)
	b.login(c)
	b.press(".brand")
	id := c.do("submit", "block-words", "--models", "full", "--method", "sips", "--particles", "300", "--runs", "20")
	able := c.work(2)
	b.wait("the sweep in the list", "document.querySelector('.sweeps a') !== null")
	b.press(".sweeps a")
	const done = "Number(document.getElementById('cells-done').textContent.replace(',', ''))"
	b.wait("a cell", done+" > 0")
	b.press("#pause")
	b.accessible("pause", source)
	b.press("main form button")
	b.wait("a pause", "document.querySelector('.badge').textContent === 'paused'")
	if got := c.do("status", id); !strings.Contains(got, "paused") {
		t.Errorf("on the page it is paused, but %s", got)
	}
	b.picture("paused")

	// A change by others is seen at once.
	c.do("resume", id)
	b.wait("that it goes on", "document.querySelector('.badge').textContent === 'running'")
	c.do("pause", id)
	b.wait("that it pauses", "document.querySelector('.badge').textContent === 'paused'")
	b.press("#resume")
	b.press("main form button")
	before := evaluate[int](b, done)
	b.wait("more cells", fmt.Sprintf("%s > %d", done, before))

	b.press("#cancel")
	b.accessible("cancel", source)
	b.press("main form button")
	b.wait("the end", "document.querySelector('.badge').textContent === 'cancelled'")
	b.accessible("cancelled", source)

	able.stop()
	failing := c.submitFailing(t)
	b.open(c.url)
	b.wait("both sweeps", "document.querySelectorAll('.sweeps li').length === 2")
	b.press(fmt.Sprintf("[id='sweep-%s']", failing))
	b.wait("the end", "document.querySelector('.badge').textContent === 'done in part'")
	b.run(chromedp.Click(chromedp.CSS("#progress a[href='#failures']"), chromedp.NodeVisible))
	b.wait("the reason", "document.querySelector('.reason')?.textContent.includes('no worker can compute') ?? false")
	if got := b.text(".failures pre"); !strings.HasPrefix(got, "foible infer doors-keys-gems-sample 1-2 --model boltzmann --set alpha=") {
		t.Error(got)
	}
	b.accessible("failures", source)
	b.open(c.url)
	b.accessible("sweeps", source)
}
