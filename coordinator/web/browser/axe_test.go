package browser_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe is the source of axe-core; "" if the tests are to do without.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv(axeEnv)
	if path == "" {
		if os.Getenv(mustEnv) != "" {
			t.Fatal(axeEnv + " does not name axe.min.js, and " + mustEnv + " is set")
		}
		t.Log("pages are not looked through by axe-core: " + axeEnv + " does not name axe.min.js")
		return ""
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// violation is what axe-core finds.
type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// accessible looks through a page for what breaks WCAG 2.2 A and AA: in light and dark, on a desk and on a phone. On the
// phone nothing may stand out beyond the edge either.
func (b *tab) accessible(name, source string) {
	b.t.Helper()
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			b.look(width, scheme)
			where := fmt.Sprintf("%s-%s-%d", name, scheme, width)
			b.picture(where)
			if over := evaluate[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				b.t.Errorf("%s: %d px stand out at the right", where, over)
			}
			for _, v := range b.violations(source) {
				b.t.Errorf("%s: %s: %s\n\t%s", where, v.ID, v.Help, strings.Join(v.Nodes, "\n\t"))
			}
		}
	}
	b.look(1280, "light")
}

// violations run axe-core in a world of its own, in which the page's policy does not hold.
func (b *tab) violations(source string) []violation {
	b.t.Helper()
	if source == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	const run = `;axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}).then(r => { if (r.passes.length < 5) throw new Error('it has checked nothing'); return r.violations.map(v => (
		{id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200) + ' ' + n.any.map(a => a.message).join('; '))}))})`
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]violation](source+run, func(p *runtime.EvaluateParams) {
		yes := true
		p.AwaitPromise, p.AllowUnsafeEvalBlockedByCSP = &yes, &yes
	}))
	if err != nil {
		b.failed("axe-core", err)
	}
	return found
}
