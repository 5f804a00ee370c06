// Updates: the server says what has changed, as HTML by the id of the element that it is inside of.

const connection = document.getElementById("connection");
const waiting = new Map(); // parts that came while someone was reading, by id
let events; // the stream of this page

function listen(address) {
	if (events) events.close();
	events = new EventSource(address);
	events.addEventListener("parts", (e) => {
		say("");
		for (const [id, part] of Object.entries(JSON.parse(e.data))) update(id, part);
	});
	events.addEventListener("open", () => say(""));
	events.addEventListener("error", () => {
		if (events.readyState === EventSource.CLOSED) say("Your session has ended, or this page has. Load it again.");
		else say("No connection since " + new Date().toLocaleTimeString() + "; trying again.");
	});
}

function say(text) {
	if (connection.textContent === text) return;
	connection.textContent = text;
	connection.hidden = !text;
}

// held says whether someone is reading what an update would take away.
function held(element) {
	return element.querySelector("[data-hold]:hover, [data-hold]:focus-within") !== null;
}

async function update(id, part) {
	const element = document.getElementById(id);
	if (!element || element.dataset.version === part.version) return;
	waiting.set(id, part);
	const fresh = document.createElement("template");
	fresh.innerHTML = part.html;
	await Promise.all([...fresh.content.querySelectorAll("img")].map(loaded));
	if (waiting.get(id) !== part || held(element)) return;
	waiting.delete(id);
	const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
	const scrolled = [...element.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
	element.replaceChildren(fresh.content);
	element.dataset.version = part.version;
	localise(element);
	element.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = scrolled[i] || 0; });
	if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

// loaded waits for a figure, so that the one before stays until it is there.
function loaded(img) {
	const copy = new Image();
	copy.src = img.getAttribute("src");
	return copy.decode().catch(() => {});
}

function release() {
	for (const [id, part] of [...waiting]) update(id, part);
}
document.addEventListener("focusout", () => setTimeout(release));
document.addEventListener("pointerout", () => setTimeout(release));

// Times are shown in the reader's zone.
function localise(root) {
	for (const t of root.querySelectorAll("time")) {
		t.textContent = new Date(t.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
	}
}

// The table of fits: its links and its form change the address and what the stream sends, and load no page.

const filter = document.getElementById("filter");

function showFits(url, remember) {
	if (remember) history.pushState(null, "", url);
	for (const name of ["model", "filter"]) filter.elements[name].value = url.searchParams.get(name) || "";
	filter.elements.sort.value = url.searchParams.get("sort") || "r";
	listen(url.pathname + "/events" + url.search);
}

if (filter) {
	document.addEventListener("click", (e) => {
		const link = e.target.closest("a");
		if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
		const url = new URL(link.href.baseVal ?? link.href, location.href);
		if (url.pathname !== location.pathname || url.hash !== "#fits" || !url.search) return;
		e.preventDefault();
		showFits(url, true);
		if (link.closest(".spots")) document.getElementById("fits").scrollIntoView();
	});
	const apply = () => {
		const url = new URL(location.pathname, location.href);
		for (const [key, value] of new FormData(filter)) if (value) url.searchParams.set(key, value);
		showFits(url, true);
	};
	filter.addEventListener("submit", (e) => { e.preventDefault(); apply(); });
	filter.elements.model.addEventListener("change", apply);
	filter.elements.filter.addEventListener("search", (e) => { if (!e.target.value) apply(); }); // the cross in it
	window.addEventListener("popstate", () => showFits(new URL(location.href), false));
}

// The sensitivity plot: what is nearest to the pointer, or has the focus, says what it is.

function read(spot) {
	const figure = (spot || document).closest?.("figure");
	const readout = figure?.querySelector(".readout");
	if (!readout) return;
	for (const near of figure.querySelectorAll(".near")) near.classList.remove("near");
	spot.classList.add("near");
	readout.textContent = spot.getAttribute("aria-label");
}

function nearest(plot, x, y) {
	let best = null, least = Infinity;
	for (const spot of plot.querySelectorAll("a")) {
		const c = spot.firstElementChild;
		const d = Math.hypot(c.cx.baseVal.value - x, c.cy.baseVal.value - y);
		if (d < least) [best, least] = [spot, d];
	}
	return least < 15 ? best : null;
}

document.addEventListener("pointermove", (e) => {
	const plot = e.target.closest?.(".spots");
	if (!plot) return;
	const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(plot.getScreenCTM().inverse());
	const spot = nearest(plot, at.x, at.y);
	if (spot) read(spot);
});
document.addEventListener("focusin", (e) => {
	const spot = e.target.closest?.(".spots a");
	if (spot) read(spot);
});
document.addEventListener("keydown", (e) => {
	const spot = e.target.closest?.(".spots a");
	if (!spot) return;
	const group = spot.parentElement, spots = [...group.children], at = spots.indexOf(spot);
	const beside = (g) => g && g.children[Math.round((at / Math.max(1, spots.length - 1)) * (g.children.length - 1))];
	const next = {
		ArrowRight: spots[at + 1], ArrowLeft: spots[at - 1], Home: spots[0], End: spots[spots.length - 1],
		ArrowDown: beside(group.nextElementSibling), ArrowUp: beside(group.previousElementSibling),
	}[e.key];
	if (next) {
		e.preventDefault();
		next.focus({ preventScroll: true });
	}
});

// The steps of a stimulus.

const step = document.getElementById("step");

if (step) {
	const scene = document.getElementById("scene");
	const steps = [...document.getElementById("steps").children];
	step.form.querySelector("button").hidden = true;
	step.form.addEventListener("submit", (e) => e.preventDefault());
	const show = async () => {
		const wanted = step.value, li = steps[wanted];
		document.getElementById("step-text").textContent = li.textContent;
		step.setAttribute("aria-valuetext", li.textContent);
		const img = new Image();
		img.src = li.dataset.src;
		await img.decode().catch(() => {});
		if (step.value !== wanted) return;
		scene.src = img.src;
		scene.alt = li.textContent;
		for (const a of document.querySelectorAll("#scene-files a")) {
			a.href = li.dataset.src.replace(/\.svg\?.*/, a.getAttribute("href").match(/\.[a-z]+$/)[0]);
		}
		history.replaceState(null, "", "?step=" + wanted);
	};
	step.addEventListener("input", show);
}

// The rest.

for (const form of document.querySelectorAll("form[data-auto]")) form.requestSubmit();
for (const field of document.querySelectorAll("[data-select]")) field.addEventListener("focus", () => field.select());
localise(document);
if (document.body.dataset.events) listen(document.body.dataset.events);
