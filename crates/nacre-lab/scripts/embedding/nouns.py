"""Single-token everyday nouns of WordNet (acts, animals, artefacts, events, food, people, places, plants, substances)."""
import json,sys,glob
wn,tokj,out=sys.argv[1:]
v=json.load(open(tokj))['model']['vocab']
keep=set()
for line in open(wn,encoding='latin1'):
    if line.startswith(' '): continue
    f=line.split(' ')
    if f[1] in ('04','05','06','11','13','15','18','20','27','28') :
        w=f[4].lower()
        if w.isalpha() and len(w)>3 and v.get(w,99999)<15000: keep.add(w)
open(out,'w').write('\n'.join(sorted(keep))); print(len(keep))
